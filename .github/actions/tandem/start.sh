#!/usr/bin/env bash
# Starts a node in the background and waits until it is ready; prints its log and fails where it is not.
set -euo pipefail

folder=${RUNNER_TEMP:-/tmp}/tandem
mkdir -p "$folder"
rm -f "$folder/url" "$folder/pid"

# The project's own release, or the one that the step asks for. TANDEM_COMMAND is for tests of this script.
if [[ -n ${TANDEM_COMMAND:-} ]]; then
  read -ra command <<<"$TANDEM_COMMAND"
elif [[ -x node_modules/.bin/tandem ]]; then
  command=(node_modules/.bin/tandem)
else
  command=(npx --yes "tandem@${INPUT_VERSION:-latest}")
fi
# Variables that begin with TANDEM_ are settings of the node.
unset TANDEM_COMMAND

read -ra args <<<"${INPUT_ARGS:---memory}"
printf '%s\n' "${INPUT_SEED:-}" >"$folder/seed"
if [[ -n ${INPUT_SEED:-} ]]; then args+=(--seed "$INPUT_SEED"); fi
# The end of the log is part of the summary, which shows no colours.
NO_COLOR=1 nohup "${command[@]}" start --port "${INPUT_PORT:-8545}" --ready-file "$folder/url" "${args[@]}" \
  >"$folder/log.txt" 2>&1 &
pid=$!
echo "$pid" >"$folder/pid"

fail() {
  echo "::error title=Tandem::$1"
  echo '::group::Log of the node'
  cat "$folder/log.txt"
  echo '::endgroup::'
  kill "$pid" 2>/dev/null || true
  exit 1
}

deadline=$((SECONDS + ${INPUT_TIMEOUT:-60}))
until [[ -s $folder/url ]]; do
  kill -0 "$pid" 2>/dev/null || fail 'The node ended during its start.'
  ((SECONDS < deadline)) || fail "The node was not ready after ${INPUT_TIMEOUT:-60} seconds."
  sleep 0.1
done

url=$(<"$folder/url")
{
  echo "url=$url"
  echo "folder=$folder"
} >>"$GITHUB_OUTPUT"
{
  echo "RPC_URL=$url"
  echo "TANDEM_URL=$url"
} >>"$GITHUB_ENV"
echo "The node answers at $url."
