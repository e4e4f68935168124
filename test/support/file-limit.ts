/** A disk that takes nothing, as the operating system simulates it for a process (RLIMIT_FSIZE). */
import { execFileSync } from 'node:child_process'
import type { RunningCommand } from './command.ts'
import { PRLIMIT } from './tools.ts'

/** No file of the process grows beyond so many bytes, whatever it holds already; `unlimited` as before. */
export function limitFiles({ child }: Pick<RunningCommand, 'child'>, bytes: number | 'unlimited'): void {
  execFileSync(PRLIMIT.path, ['--pid', String(child.pid), `--fsize=${bytes}:`])
}
