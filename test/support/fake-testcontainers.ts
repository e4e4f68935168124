/** A package in the place of Testcontainers, which needs Docker: it records what is asked of it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = { name: 'testcontainers', version: '11.0.0', type: 'module', exports: './index.js' }
const TEXT = `
export const asked = []
const noting = (name) => function (...args) { asked.push([name, ...args]); return this }
export class GenericContainer {
  constructor(image) { asked.push(['image', image]) }
  async start() { return { getHost: () => '127.0.0.9', getMappedPort: (port) => 40_000 + port } }
}
for (const name of ['withExposedPorts', 'withWaitStrategy', 'withStartupTimeout', 'withCommand'])
  GenericContainer.prototype[name] = noting(name)
export class AbstractStartedContainer {
  constructor(container) { this.container = container }
  getHost() { return this.container.getHost() }
  getMappedPort(port) { return this.container.getMappedPort(port) }
}
export const Wait = { forHealthCheck: () => 'health check' }
`

/** Writes the package into a new folder. */
export function writeFakeTestcontainers(folder: string): void {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(MANIFEST))
  writeFileSync(join(folder, 'index.js'), TEXT)
}

/** A program that starts a container of the package, and prints what it asked for and the URLs. */
export const CONTAINER_PROGRAM = `
import { asked } from 'testcontainers'
import { TandemContainer } from 'testcontainers-tandem'
const container = new TandemContainer().withPreset('anvil').withSeed('s').withPredeploys('create2', 'multicall3')
const started = await container.start()
console.log(JSON.stringify({ asked, urls: [started.getRpcUrl(), started.getWsUrl()] }))`

/** What it asks for before the command. */
export const CONTAINER_REQUESTS: readonly unknown[] = [
  ['image', 'tandem'],
  ['withExposedPorts', 4444],
  ['withWaitStrategy', 'health check'],
  ['withStartupTimeout', 60_000],
]

/** The command of the container. */
export const CONTAINER_COMMAND: readonly string[] = [
  ...['start', '--memory', '--unsafe-open', '--preset', 'anvil'],
  ...['--seed', 's', '--predeploy', 'create2,multicall3'],
]
