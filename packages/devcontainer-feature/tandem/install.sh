#!/bin/sh
# Installs the commands for all users of the container. The tools of dev containers pass options in capitals.
set -eu

if ! command -v npm >/dev/null; then
  echo 'The feature tandem needs Node.js 20.19 or later: add ghcr.io/devcontainers/features/node.' >&2
  exit 1
fi
npm install --global --no-audit --no-fund "tandem@${VERSION:-latest}"
if [ "${ANVIL:-false}" = true ]; then
  ln -sf "$(npm prefix --global)/bin/tandem-anvil" "$(npm prefix --global)/bin/anvil"
fi
tandem --version
