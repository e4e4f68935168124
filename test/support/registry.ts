/** A registry of npm on this machine that has the packages of the project, so that a test installs without a network. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
}

/** A package to serve: what npm asks for before it loads the archive, and the archive. */
interface Served {
  readonly manifest: Manifest
  send(response: ServerResponse): void
}

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** An installed package; its archive is made when it is asked for, without what npm put below it. */
function installed(folder: string): Served {
  const top = basename(folder)
  const args = ['-cf', '-', '-C', dirname(folder), `--exclude=${top}/node_modules`]
  return {
    manifest: manifestIn(folder),
    send(response) {
      const tar = spawn('tar', [...args, `--transform=s,^${top},package,S`, top])
      tar.stdout.pipe(response)
    },
  }
}

/** The folders of what is installed for users of the project, by the lock file of `root`. */
function foldersOf(root: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries<{ dev?: boolean; peer?: boolean }>(packages)
    .filter(([path, { dev, peer }]) => path !== '' && !dev && !peer)
    .map(([path]) => join(root, path))
}

function byName(folders: readonly string[]): Map<string, Served[]> {
  const found = new Map<string, Served[]>()
  for (const one of folders.map(installed)) {
    found.set(one.manifest.name, [...(found.get(one.manifest.name) ?? []), one])
  }
  return found
}

/** Starts a registry of the packages that are installed below `root`, and of those in further folders. */
export async function startRegistry(root: string, further: readonly string[] = []): Promise<Registry> {
  const packages = byName([...foldersOf(root), ...further])
  const server = createServer((request, response) => {
    const [, name = '', version] =
      /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+)\.tar)?$/.exec(decodeURIComponent(request.url ?? '')) ?? []
    const versions = packages.get(name) ?? []
    const asked = versions.find(({ manifest }) => manifest.version === version)
    if (asked !== undefined) return asked.send(response)
    if (versions.length === 0) return response.writeHead(404).end('{}')
    const manifests = versions.map(({ manifest }) => [
      manifest.version,
      { ...manifest, dist: { tarball: `${url}/${name}/-/${manifest.version}.tar` } },
    ])
    const [latest] = manifests.at(-1) ?? []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(manifests) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
