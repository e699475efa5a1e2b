#!/bin/sh
# docs/images.md as a script: build an image, pin it, see it verified in every form, then spoil copies
# of it and see each refused for its own reason. Needs skopeo, umoci, Python and pinproof on the path.
#
#   sh examples/images/walk.sh FOLDER        FOLDER must not exist
set -eu
mkdir "$1"
cd "$1"

say() { printf '\n## %s\n' "$*"; }
judge() { # expected exit and code (- for none), then the arguments
    wanted=$1; reason=$2; shift 2
    code=0
    pinproof verify image "$@" --registry mine --root mine/metadata/1.root.json > out.txt || code=$?
    sed '/^  image /,$d' out.txt
    echo "(exit $code)"
    [ "$code" = "$wanted" ] || { cat out.txt; exit 1; }
    [ "$reason" = - ] || grep -q -e "$reason" out.txt || { cat out.txt; exit 1; }
}
copy() { rm -rf lie; cp -R app lie; }
blob() { # the blob of a part: manifest, config or layer
    python3 - "$@" <<'PY'
import json, sys
layout, part = sys.argv[1:]
index = json.load(open(f"{layout}/index.json"))
path = lambda d: f"{layout}/blobs/sha256/" + d["digest"].removeprefix("sha256:")
manifest = path(next(m for m in index["manifests"]))
document = json.load(open(manifest))
print({"manifest": manifest, "config": path(document["config"]), "layer": path(document["layers"][0])}[part])
PY
}

say "build an image: one layer, one file"
umoci init --layout app
umoci new --image app:v1
umoci unpack --rootless --image app:v1 bundle
mkdir -p bundle/rootfs/app
printf 'print("serving")\n' > bundle/rootfs/app/serve.py
umoci repack --image app:v1 bundle
umoci config --image app:v1 --os linux --architecture amd64 --config.cmd /app/serve.py
umoci gc --layout app

say "pin it: an entry, reviewed, in a registry of our own"
mkdir -p mine/targets/me/image
pinproof pin image oci:app --name my-app --project me > mine/targets/me/image/my-app.toml
pinproof sign registry --seal mine

say "verified in every form"
judge 0 - oci:app
skopeo --insecure-policy copy -q oci:app:v1 oci-archive:app.oci.tar:v1
judge 0 - oci-archive:app.oci.tar --expect my-app
config=$(pinproof show my-app --registry mine --root mine/metadata/1.root.json --format json |
    python3 -c 'import json,sys; print(next(p["sha256"] for p in json.load(sys.stdin)["answers"][0]["data"]["pins"] if p["kind"] == "config"))')
judge 0 - oci:app --expect "config:sha256:$config"

say "a docker archive holds the same files, under another manifest"
skopeo --insecure-policy copy -q oci:app:v1 docker-archive:app.docker.tar:me/app:v1
manifest=$(sha256sum "$(blob app manifest)" | cut -d' ' -f1)
judge 1 image-recompressed docker-archive:app.docker.tar --expect "manifest:sha256:$manifest"

say "a flipped byte in a layer"
copy
layer=$(blob lie layer)
size=$(wc -c < "$layer")
printf '\377' | dd of="$layer" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
judge 1 image-blob-changed oci:lie

say "a blob that is missing"
copy
rm "$(blob lie layer)"
judge 3 image-blob-missing oci:lie

say "a wrong size"
copy
python3 - <<'PY'
import json
index = json.load(open("lie/index.json"))
index["manifests"][0]["size"] += 1
json.dump(index, open("lie/index.json", "w"))
PY
judge 1 image-size oci:lie

say "another platform than the configuration says"
copy
python3 - <<'PY'
import json
index = json.load(open("lie/index.json"))
index["manifests"][0]["platform"] = {"os": "linux", "architecture": "arm64"}
json.dump(index, open("lie/index.json", "w"))
PY
judge 1 image-platform-config oci:lie

say "a manifest that was parsed and printed again"
copy
python3 - "$(blob lie manifest)" <<'PY'
import hashlib, json, os, sys
data = json.dumps(json.load(open(sys.argv[1])), indent=2).encode()
digest = hashlib.sha256(data).hexdigest()
open(f"lie/blobs/sha256/{digest}", "wb").write(data)
os.unlink(sys.argv[1])
index = json.load(open("lie/index.json"))
index["manifests"][0] |= {"digest": f"sha256:{digest}", "size": len(data)}
json.dump(index, open("lie/index.json", "w"))
PY
judge 1 image-reserialised oci:lie --expect "manifest:sha256:$manifest"

say "a changed label: every file is the same, the configuration is not"
copy
umoci config --image lie:v1 --config.label changed=yes
judge 1 image-relabelled oci:lie

say "a file changed in a later layer"
copy
printf 'print("other")\n' > other.py
umoci insert --image lie:v1 other.py /app/serve.py
judge 1 image-extended oci:lie --expect my-app

say "a whiteout that hides the file"
copy
umoci insert --image lie:v1 --whiteout /app/serve.py
judge 1 image-path-hidden oci:lie --expect my-app --path app/serve.py

say "a link of a lower layer that leads the file elsewhere"
rm -rf lie
umoci init --layout lie
umoci new --image lie:v1
umoci config --image lie:v1 --os linux --architecture amd64
ln -s elsewhere link
umoci insert --image lie:v1 link /app
umoci insert --image lie:v1 other.py /app/serve.py
judge 1 image-path-redirected oci:lie --expect my-app --path app/serve.py

say "an archive that is two images at once"
cp app.oci.tar two.tar
umoci config --image lie:v1 --config.cmd /bin/other
skopeo --insecure-policy copy -q oci:lie:v1 docker-archive:other.docker.tar:me/app:v1
mkdir two
tar -xf other.docker.tar -C two
(cd two && tar -rf ../two.tar ./*.json ./*.tar)
judge 1 image-two-images oci-archive:two.tar
