#!/usr/bin/env bash
# Puts VS Code, as a server that a browser shows, into the folder that is named: what the tests of the extension drive.
# Of its native parts those are compiled that an editor needs; its search program is Debian's.
set -euo pipefail
folder=$1
version=4.100.3 # the last for Node 20
npm=(npm --silent --no-audit --no-fund)
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && ! command -v rg >/dev/null; then
	{ apt-get -qq update && apt-get -qq install -y --no-install-recommends ripgrep; } >/dev/null
fi
mkdir -p "$folder"
"${npm[@]}" install --prefix "$folder" --ignore-scripts "code-server@$version"
server=$folder/node_modules/code-server/lib/vscode
"${npm[@]}" install --prefix "$server" --ignore-scripts --omit=dev
"${npm[@]}" rebuild --prefix "$folder" argon2
"${npm[@]}" rebuild --prefix "$server" @vscode/spdlog native-watchdog
# What runs behind its compilation asks for a package that is not there; the compiled part is all that is needed.
"${npm[@]}" rebuild --prefix "$server" node-pty || test -f "$server/node_modules/node-pty/build/Release/pty.node"
mkdir -p "$server/node_modules/@vscode/ripgrep/bin"
ln -sf "$(command -v rg)" "$server/node_modules/@vscode/ripgrep/bin/rg"
