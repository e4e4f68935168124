#!/usr/bin/env bash
# Writes the summary of the node that start.sh has started, and stops it.
set -euo pipefail

folder=${RUNNER_TEMP:-/tmp}/tandem
if [[ ! -s $folder/pid ]]; then
  echo '::warning title=Tandem::No node was started in this job.'
  exit 0
fi

pid=$(<"$folder/pid")
state='ran until the end of the job'
kill -0 "$pid" 2>/dev/null || state='had ended before the end of the job'
kill "$pid" 2>/dev/null || true
for _ in {1..100}; do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done

{
  echo '### Tandem'
  echo
  echo '| | |'
  echo '| --- | --- |'
  echo "| node | $state |"
  echo "| seed | \`$(<"$folder/seed")\`: start with \`--seed\` and it for the same keys and ids |"
  while IFS= read -r artifact; do
    [[ -n $artifact ]] || continue
    if [[ -e $artifact ]]; then echo "| artifact | \`$artifact\` |"; else echo "| artifact | \`$artifact\` (missing) |"; fi
  done <<<"${INPUT_ARTIFACTS:-}"
  if [[ ${INPUT_STATUS:-success} == failure ]]; then
    echo
    echo '<details><summary>End of the log</summary>'
    echo
    echo '```text'
    tail -n 100 "$folder/log.txt"
    echo '```'
    echo
    echo '</details>'
  fi
} >>"$GITHUB_STEP_SUMMARY"

if [[ ${INPUT_STATUS:-success} == failure ]]; then
  echo '::group::Log of the node'
  cat "$folder/log.txt"
  echo '::endgroup::'
fi
echo "folder=$folder" >>"$GITHUB_OUTPUT"
