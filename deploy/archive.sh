# Packs the build, for a VM without this project: `npm run archive` builds first. Run it from the project's folder.
set -eu
name=device-trust-subgraph-$(node -p 'require("./package.json").version')
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT
# By this link each file has its folder in the archive, with any tar: the options for that differ.
ln -s "$PWD" "$stage/$name"
licences=$(npm ls --omit=dev --all --parseable | sed -n "s|^$(pwd -P)/||p" |
  xargs -I{} find {} -maxdepth 1 -iname 'licen[sc]e*')
files=$(find LICENSE package.json schema dist/server deploy $licences -type f \
  ! -path 'schema/fixtures/*' ! -name secret.env)
tar -czf "$PWD/dist/$name.tar.gz" -C "$stage" $(echo "$files" | sed "s|^|$name/|")
