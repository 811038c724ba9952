#!/bin/sh
# Stands in for the desktop VS Code's executable: @vscode/test-electron's runTests starts it.
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../../node_modules/node/bin/node" "$here/launcher.ts" "$@"
