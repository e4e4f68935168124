/**
 * Loaded into a command with `--import`: kills the process before its n-th call that changes a file or prints, where n is
 * `KILL_AT`. The calls that were reached are named in the file `CALLS`, a line each.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { appendFileSync } = fs
const fatal = Number(process.env.KILL_AT)
let count = 0

function intercept(target, name, isCounted = () => true) {
  const call = target[name]
  target[name] = function counted(...args) {
    if (isCounted(...args)) {
      appendFileSync(process.env.CALLS, `${name}\n`)
      if (++count === fatal) process.kill(process.pid, 'SIGKILL')
    }
    return call.apply(this, args)
  }
}

for (const name of ['linkSync', 'renameSync', 'unlinkSync', 'writeSync']) intercept(fs, name)
for (const name of ['link', 'mkdtemp', 'rm']) intercept(fs.promises, name)
intercept(fs, 'openSync', (_path, flags) => flags !== 'r')
intercept(process.stdout, 'write')
syncBuiltinESMExports()
