/** Checks of the machine: Node's release, the native code of signatures, memory, Docker. */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { totalmem } from 'node:os'
import { promisify } from 'node:util'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { type Finding, inOrder } from './finding.ts'
import { releaseIsWithin } from './release.ts'

/** Bytes of memory below which a node with a long chain may be ended by the system. */
const LEAST_MEMORY = 512 * 1024 * 1024
const DOCKER_TIMEOUT_MS = 10_000

/** Is the release of Node one that the package supports? `range` is `engines.node` of its manifest. */
export function checkNodeRelease(release: string, range: string): Finding {
  const check = 'Node.js'
  if (releaseIsWithin(release, range)) return inOrder(check, `Node.js ${release} is supported (${range}).`)
  return {
    check,
    verdict: 'problem',
    found: `Node.js ${release} is not supported (${range}).`,
    advice:
      'Install a supported release from https://nodejs.org, or by your version manager (nvm install 22).',
  }
}

/** Is the native code of secp256k1, an optional dependency, there? `load` loads a module. */
export function checkNativeCode(load: (name: string) => unknown = createRequire(import.meta.url)): Finding {
  const check = 'native code'
  try {
    load('secp256k1/bindings.js')
    return inOrder(check, 'Signatures are checked by native code.')
  } catch {
    return {
      check,
      verdict: 'note',
      found:
        'Signatures are checked in JavaScript: the native code of the optional package secp256k1 is not there.',
      advice: 'Install without --omit=optional on a platform for which secp256k1 has prebuilt files.',
    }
  }
}

function inMiB(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024).toLocaleString('en-US')} MiB`
}

/** Is there enough memory? `bytes` is the limit of the container, or the memory of the machine. */
export function checkMemory(bytes: number): Finding {
  const check = 'memory'
  if (bytes >= LEAST_MEMORY) return inOrder(check, `The process may use ${inMiB(bytes)}.`)
  return {
    check,
    verdict: 'warning',
    found: `The process may use ${inMiB(bytes)} only.`,
    advice: `Give the machine or the container ${inMiB(LEAST_MEMORY)} or more.`,
  }
}

/** Bytes that this process may use. */
export function availableMemory(): number {
  // 0 or absent where no limit is known.
  const limit = process.constrainedMemory?.() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

const CommandFailure = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  stderr: z.string().catch(''),
})

function dockerFailure(error: unknown): Finding {
  const check = 'Docker'
  const { code, stderr } = CommandFailure.catch({ code: undefined, stderr: messageOf(error) }).parse(error)
  if (code === 'ENOENT') {
    return { check, verdict: 'note', found: 'Docker is not installed; only the container image needs it.' }
  }
  const words = stderr.trim().split('\n').at(-1) ?? ''
  if (/permission denied/i.test(stderr)) {
    const advice = 'Add the user to the group docker (sudo usermod -aG docker $USER), and log in again.'
    return { check, verdict: 'warning', found: 'This user may not use Docker.', advice }
  }
  return {
    check,
    verdict: 'warning',
    found: `Docker is installed, but its daemon does not answer: ${words || `exit code ${code}`}`,
    advice:
      'Start Docker Desktop, or the service (sudo systemctl start docker), if you use the container image.',
  }
}

/** Does Docker's daemon answer? `command` is the program that is asked. */
export async function checkDocker(command = 'docker'): Promise<Finding> {
  try {
    const asked = ['version', '--format', '{{.Server.Version}}']
    const { stdout } = await promisify(execFile)(command, asked, { timeout: DOCKER_TIMEOUT_MS })
    return inOrder('Docker', `Docker ${stdout.trim()} answers.`)
  } catch (error) {
    return dockerFailure(error)
  }
}
