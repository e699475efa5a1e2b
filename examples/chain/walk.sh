#!/bin/sh
# docs/chains.md as a script: lay down a chain of four steps, do them with in-toto's tools, see the chain
# verified, then spoil copies of it and see each refused for its own reason. Needs openssl, pinproof,
# in-toto-run and a Python that has in-toto (pinproof's own has) on the path. Keys are made here and
# stay in FOLDER.
#
#   sh examples/chain/walk.sh FOLDER        FOLDER must not exist
set -eu
mkdir "$1"
cd "$1"
mkdir keys links base

say() { printf '\n## %s\n' "$*"; }
judge() { # expected exit, then a folder of links
    wanted=$1; shift
    code=0
    pinproof verify chain --layout layout.json --links "$1" --key keys/owner.pub \
        --product release/image.tar > out.txt || code=$?
    sed '/^  layout /,$d' out.txt
    echo "(exit $code)"
    [ "$code" = "$wanted" ] || { cat out.txt; exit 1; }
}
copy() { rm -rf lie; cp -R links lie; }

say "keys: the owner lays the steps down, four others do them"
for who in owner composer builder measurer publisher; do
    openssl genpkey -algorithm ed25519 -out "keys/$who.key"
    openssl pkey -in "keys/$who.key" -pubout -out "keys/$who.pub"
done

say "the layout: which steps, by whom, with what"
cat > steps.json <<'JSON'
[
 {"name": "compose", "by": "composer",
  "expected_materials": [["REQUIRE", "base/app.py"], ["ALLOW", "base/*"], ["DISALLOW", "*"]],
  "expected_products": [["CREATE", "tree/app.py"], ["CREATE", "tree/*"], ["DISALLOW", "*"]]},
 {"name": "build", "by": "builder",
  "expected_materials": [["MATCH", "tree/*", "WITH", "PRODUCTS", "FROM", "compose"], ["DISALLOW", "*"]],
  "expected_products": [["CREATE", "image.tar"], ["DISALLOW", "*"]]},
 {"name": "measure", "by": "measurer",
  "expected_materials": [["MATCH", "image.tar", "WITH", "PRODUCTS", "FROM", "build"], ["DISALLOW", "*"]],
  "expected_products": [["CREATE", "receipt.json"], ["DISALLOW", "*"]]},
 {"name": "publish", "by": "publisher",
  "expected_materials": [["MATCH", "image.tar", "WITH", "PRODUCTS", "FROM", "build"],
                         ["MATCH", "receipt.json", "WITH", "PRODUCTS", "FROM", "measure"],
                         ["DISALLOW", "*"]],
  "expected_products": [["MATCH", "image.tar", "IN", "release", "WITH", "PRODUCTS", "FROM", "build"],
                        ["MATCH", "receipt.json", "IN", "release", "WITH", "PRODUCTS", "FROM", "measure"],
                        ["DISALLOW", "*"]]}
]
JSON
python3 - <<'PY'
import json
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from in_toto.models.layout import Layout, Step
from in_toto.models.metadata import Envelope
from securesystemslib.signer import CryptoSigner

layout = Layout(expires="2036-01-01T00:00:00Z", readme="compose, build, measure, publish")
for step in json.load(open("steps.json")):
    by = layout.add_functionary_key_from_path(f"keys/{step.pop('by')}.pub")
    layout.steps.append(Step(pubkeys=[by["keyid"]], **step))
signed = Envelope.from_signable(layout)
owner = load_pem_private_key(open("keys/owner.key", "rb").read(), None)
signed.create_signature(CryptoSigner(owner))
signed.dump("layout.json")
PY

say "the steps, each by its own key"
run() { # step, key, then what in-toto-run takes
    name=$1; by=$2; shift 2
    in-toto-run --step-name "$name" --signing-key "keys/$by.key" --use-dsse -d links "$@"
}
echo 'print("serving")' > base/app.py
run compose composer -m base -p tree -- sh -c 'mkdir tree; sed s/serving/fair/ base/app.py > tree/app.py'
run build builder -m tree -p image.tar -- tar -cf image.tar tree
run measure measurer -m image.tar -p receipt.json -- sh -c 'wc -c < image.tar > receipt.json'
run publish publisher -m image.tar receipt.json -p release -- \
    sh -c 'mkdir release; cp image.tar receipt.json release'
ls links

say "the chain, whole"
judge 0 links

say "a step without its link"
copy; rm lie/measure.*.link
judge 3 lie

say "a link that was changed"
copy; for link in lie/build.*.link; do sed 's/"payload": "ey/"payload": "eyJ9ey/' "$link" > x; mv x "$link"; done
judge 1 lie

say "one link in the place of another"
copy; cp lie/publish.*.link x; for link in lie/measure.*.link; do mv x "$link"; done
judge 1 lie

say "a file slipped in between two steps, and signed for"
echo 'print("mine")' > tree/extra.py
copy; rm lie/build.*.link
in-toto-run -n build --signing-key keys/builder.key --use-dsse -d lie -m tree -p image.tar -- tar -cf image.tar tree
judge 1 lie

say "a product that is not what was published"
echo more >> release/image.tar
judge 1 links
