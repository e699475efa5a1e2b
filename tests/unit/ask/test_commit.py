from pathlib import Path
import json
import pytest
from support import signed_commits, runs
from support import registry as registries
def test_it(tmp_path: Path, test_registry):
    def go(name, recipe):
        f=tmp_path/name.replace(" ","_"); f.mkdir()
        oid=signed_commits.make(f, recipe)
        a=["verify","commit",f"git:repo@{oid}","--ssh-key","alice.pub",*runs.trusting(test_registry)]
        ran = runs.run([*a,"--format","json"], cwd=f, clock=registries.NOW)
        try:
            d=json.loads(ran.stdout); print(name, ran.exit, [(x["code"],x.get("got")) for x in d["results"][0]["findings"]])
        except ValueError: print(name, ran)
        return a,f
    a,f=go("sound",{})
    ran = runs.run(a, cwd=f, clock=registries.NOW); print(ran.stdout.decode())
    go("sound256",{"sha256":True})
    go("bob",{"by":"bob"})
    go("p256",{"by":"p256-x"})
    a,f=go("tag",{"object":"tag"})
    ran = runs.run(a, cwd=f, clock=registries.NOW); print(ran.stdout.decode())
    go("tag256",{"object":"tag","sha256":True})
    for lie in signed_commits.LIES: go(lie,{"lies":[lie]})
    for lie in signed_commits.TAG_LIES: go("tag "+lie,{"lies":[lie],"object":"tag"})
