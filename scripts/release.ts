/**
 * Prepares a release: `npm run release -- --dry-run` prints the changelog since the last tag and the differences of the
 * API, and has npm check each package without publishing. Without `--dry-run` npm publishes with provenance, which it does
 * only from a workflow that may ask for an identity token (`id-token: write`).
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const API = 'docs/internals/api.md'

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
})
/** The members of `package.json` that a release compares. */
export type PackageManifest = z.infer<typeof Manifest>

const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** The newest tag before the head; `undefined` before the first release. */
function lastTag(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--tags', '--abbrev=0'], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return undefined
  }
}

/** Subjects of commits by area: `evm: charge …` is of the area `evm`, `cli, docs: …` of the first. */
export function changelog(subjects: readonly string[]): string {
  const areas = new Map<string, string[]>()
  for (const subject of subjects) {
    const [, area = 'other', change = subject] = /^([\w-]+)(?:, [\w, -]+)?: (.*)$/.exec(subject) ?? []
    areas.set(area, [...(areas.get(area) ?? []), change])
  }
  return [...areas]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([area, changes]) => `### ${area}\n\n${changes.map((change) => `- ${change}`).join('\n')}`)
    .join('\n\n')
}

/** Folders of all packages that npm publishes, this one first; `root` is its folder. */
export function packageFolders(root: string): string[] {
  const places = readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => readdirSync(folder).includes('package.json'))
  return [root, ...places.sort()]
}

/** The manifest of a package. */
export function manifestIn(folder: string): PackageManifest {
  return Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
}

/** The version. Throws where packages have different ones, or one of them needs another version of this one. */
export function commonVersion(manifests: readonly PackageManifest[]): string {
  const version = manifests[0]?.version ?? ''
  for (const { name, version: own, peerDependencies } of manifests) {
    const needed = peerDependencies?.tandem ?? `^${version}`
    if (own !== version) throw new Error(`${name} has version ${own}, not ${version}.`)
    if (needed !== `^${version}`) throw new Error(`${name} needs tandem ${needed}, not ^${version}.`)
  }
  return version
}

function main(isDryRun: boolean): void {
  const folders = packageFolders(process.cwd())
  const version = commonVersion(folders.map(manifestIn))
  const tag = lastTag()
  const range = tag === undefined ? ['HEAD'] : [`${tag}..HEAD`]
  const subjects = git('log', '--no-merges', '--reverse', '--format=%s', ...range).split('\n')
  console.log(`## ${version}\n\n${changelog(subjects)}\n`)
  const changes = tag === undefined ? '' : git('diff', '--unified=0', ...range, '--', API)
  console.log(`## API\n\n${changes === '' ? `Unchanged since ${tag ?? 'the beginning'}.` : changes}\n`)
  for (const cwd of folders) {
    const flags = isDryRun ? ['--dry-run'] : ['--provenance']
    execFileSync('npm', ['publish', '--access', 'public', ...flags], { cwd, stdio: 'inherit' })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--dry-run'))
