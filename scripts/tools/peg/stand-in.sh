#!/bin/bash
# Takes the place of bitcoind and of the Java node in the integration tests: tells main.mjs what it was started with, one
# argument a line after their number, and stays until it is killed, which closes its ports. A shell starts in milliseconds.
exec 3<>"/dev/tcp/127.0.0.1/$STAND_IN_CONTROL" || exit 1
printf '%s\n' "$#" "$@" >&3
read -r -u 3 _
