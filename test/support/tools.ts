/**
 * Programs that tests use and that this repository does not hold. A tool is taken from an environment variable, from
 * the bench's packages or from PATH. Where it is missing, its tests fail under `CI=true`; elsewhere they are skipped
 * with a message that names the tool.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'

/** A requirement of a group of tests. */
export interface Tool {
  readonly name: string
  readonly isThere: boolean
  /** The command that installs it. */
  readonly install: string
}

/** A tool that is a program. */
export interface Program extends Tool {
  /** The file, or the bare name where it is missing. */
  readonly path: string
}

const PACKAGES = fileURLToPath(new URL('../../scripts/bench/node_modules/', import.meta.url))

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * A program by its name. `variable` names a path that takes precedence, and makes the tool missing where no program
 * is at it; `packaged` is the program's place among the bench's packages.
 */
function program(
  name: string,
  {
    variable,
    packaged,
    install,
    places: further = [],
  }: { variable: string; packaged?: string; install: string; places?: readonly string[] },
): Program {
  const given = process.env[variable]
  const places =
    given === undefined
      ? [
          ...(packaged === undefined ? [] : [join(PACKAGES, packaged)]),
          ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
          ...further,
        ]
      : [given]
  const path = places.find(isExecutable)
  return { name, isThere: path !== undefined, path: path ?? name, install: `${install}, or set ${variable}` }
}

const BENCH_INSTALL = 'npm ci --prefix scripts/bench'

/** Foundry's node. */
export const ANVIL = program('anvil', {
  variable: 'ANVIL_PATH',
  packaged: '@foundry-rs/anvil-linux-amd64/bin/anvil',
  install: BENCH_INSTALL,
})

/** Foundry's client. */
export const CAST = program('cast', {
  variable: 'CAST_PATH',
  packaged: '@foundry-rs/cast-linux-amd64/bin/cast',
  install: BENCH_INSTALL,
})

/** Compilers whose output is in `fixtures/sources`; each of them is found under one of its names. */
const COMPILERS = [['solc-0.4.26'], ['solc-0.5.17'], ['solc-0.8.24'], ['solc-0.8.37', 'solc']] as const
const SOLC_FOLDER = process.env.SOLC_FOLDER ?? fileURLToPath(new URL('../../scripts/tools/', import.meta.url))

/** The npm package `solc` in these versions; `path` is the folder whose `node_modules` has them. */
export const SOLC: Program = {
  name: 'solc 0.4.26, 0.5.17, 0.8.24, 0.8.37',
  path: SOLC_FOLDER,
  isThere: COMPILERS.every((names) =>
    names.some((name) => existsSync(join(SOLC_FOLDER, 'node_modules', name, 'package.json'))),
  ),
  install: 'npm ci --ignore-scripts --prefix scripts/tools, or set SOLC_FOLDER',
}

export const CURL = program('curl', { variable: 'CURL_PATH', install: 'apt-get install curl' })

export const CHROMIUM = program('chromium', {
  variable: 'CHROMIUM_PATH',
  install: 'apt-get install chromium',
})

export const REDIS_SERVER = program('redis-server', {
  variable: 'REDIS_SERVER_PATH',
  install: 'apt-get install redis-server',
})

export const NATS_SERVER = program('nats-server', {
  variable: 'NATS_SERVER_PATH',
  // Debian installs it in a folder that is only in root's PATH.
  places: ['/usr/sbin/nats-server'],
  install: 'apt-get install nats-server',
})

export const PYTHON = program('python3', { variable: 'PYTHON_PATH', install: 'apt-get install python3' })

export const ZSH = program('zsh', { variable: 'ZSH_PATH', install: 'apt-get install zsh' })

export const FISH = program('fish', { variable: 'FISH_PATH', install: 'apt-get install fish' })

/** Changes what the operating system lets a running process do. */
export const PRLIMIT = program('prlimit', {
  variable: 'PRLIMIT_PATH',
  install: 'apt-get install util-linux',
})

/** Declares a group of tests that need a tool. */
export function describeWith(tool: Tool, title: string, tests: () => void): void {
  if (tool.isThere) {
    describe(title, tests)
    return
  }
  const missing = `${tool.name} is missing (${tool.install})`
  if (process.env.CI === 'true') {
    describe(title, () => {
      it(`has ${tool.name}`, () => {
        throw new Error(`${missing}; under CI=true no test is skipped for want of a tool`)
      })
    })
    return
  }
  console.warn(`skipped: "${title}", because ${missing}`)
  describe.skip(`${title} (skipped: ${missing})`, tests)
}
