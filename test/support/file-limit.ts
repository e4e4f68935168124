/** A full disk, simulated for a process by its limit on file sizes (RLIMIT_FSIZE). */
import { execFileSync } from 'node:child_process'
import type { RunningCommand } from './command.ts'
import { PRLIMIT } from './tools.ts'

/** No file of the process grows beyond so many bytes, whatever it holds already; `unlimited` as before. */
export function limitFiles({ child }: Pick<RunningCommand, 'child'>, bytes: number | 'unlimited'): void {
  execFileSync(PRLIMIT.path, ['--pid', String(child.pid), `--fsize=${bytes}:`])
}
