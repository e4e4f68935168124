/** Checks of the packages that a project may use with this one: its optional peer dependencies. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Finding } from './finding.ts'
import { inOrder } from './finding.ts'
import { releaseIsWithin } from './release.ts'

const Manifest = z.object({ version: z.string() })

/** The release of a package that a project in a folder finds; `undefined` where there is none. */
async function installedRelease(folder: string, name: string): Promise<string | undefined> {
  const file = join(folder, 'node_modules', name, 'package.json')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return Manifest.parse(JSON.parse(text)).version
  const above = dirname(folder)
  return above === folder ? undefined : installedRelease(above, name)
}

/** Is the release of a peer that the project in `folder` has within the range? `undefined` where it has none, which is fine. */
export async function checkPeer(folder: string, name: string, range: string): Promise<Finding | undefined> {
  const check = `package ${name}`
  const release = await installedRelease(folder, name).catch(() => 'unknown')
  if (release === undefined) return undefined
  if (releaseIsWithin(release, range)) return inOrder(check, `${name} ${release} is supported (${range}).`)
  return {
    check,
    verdict: 'warning',
    found: `${name} ${release} is not supported (${range}).`,
    advice: `Install another release: npm install --save-dev ${name}@latest`,
  }
}
