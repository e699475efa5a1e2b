"""A second opinion: in-toto's own models and rule functions, on what was found to hold.

Only what this program reads without running it: models, and the functions for artifact rules,
which are pure. `in_toto_verify` is never called: it runs the inspections of a layout. What is
handed over was signed, read strictly and judged before.
"""

import copy
from collections.abc import Mapping
from typing import Any


def objection(layout: Mapping[str, Any], links: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the kind of in-toto's objection to a layout and a link for each step, None if none."""
    from in_toto.models.layout import Layout  # noqa: PLC0415  (80 ms, for chains alone)
    from in_toto.models.link import Link  # noqa: PLC0415
    from in_toto.verifylib import verify_all_item_rules  # noqa: PLC0415

    try:
        read = Layout.read(copy.deepcopy(dict(layout)))  # which replaces steps by its own
        found = {name: Link.read(dict(link)) for name, link in links.items()}
        verify_all_item_rules(read.steps, found)
    except Exception as error:  # noqa: BLE001  (whatever it raises, it does not agree)
        return type(error).__name__
    return None
