# Packs the build, for a VM without this project: `npm run archive` builds first. Run it from the project's folder. It needs git.
set -eu
name=device-trust-subgraph-$(node -p 'require("./package.json").version')
licences=$(npm ls --omit=dev --all --parseable | sed -n "s|^$(pwd -P)/||p" |
  xargs -I{} find {} -maxdepth 1 -iname 'licen[sc]e*')
files=$(find LICENSE package.json schema dist/server deploy $licences -type f \
  ! -path 'schema/fixtures/*' ! -name secret.env)
# The files of a git archive belong to root, who unpacks it, and everybody can read them, whoever packs it with whatever umask.
# The options of tar for this differ, or are missing.
GIT_DIR=$(mktemp -d)
export GIT_DIR
trap 'rm -rf "$GIT_DIR"' EXIT
git init -q
echo "$files" > "$GIT_DIR/files"
git hash-object -w --no-filters --stdin-paths < "$GIT_DIR/files" | paste - "$GIT_DIR/files" | sed 's/^/100644 /' |
  git update-index --index-info
git -c tar.umask=022 archive --prefix="$name/" --output="dist/$name.tar.gz" "$(git write-tree)"
