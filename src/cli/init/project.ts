/** What kind of project a folder holds, and which files it has. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { NodeError } from '../../errors.ts'
import { parseManifest } from './manifest.ts'

/** The projects that Tandem is added to. */
export const PROJECT_KINDS = ['hardhat', 'foundry', 'viem', 'ethers'] as const
/** One of them. */
export type ProjectKind = (typeof PROJECT_KINDS)[number]

const Manifest = z.looseObject({
  type: z.string().optional(),
  scripts: z.record(z.string(), z.string()).nullish(),
  dependencies: z.record(z.string(), z.string()).nullish(),
  devDependencies: z.record(z.string(), z.string()).nullish(),
  peerDependencies: z.record(z.string(), z.string()).nullish(),
})

/** A project as it lies on disk. */
export interface Project {
  readonly kind: ProjectKind
  readonly folder: string
  /** The text of `package.json`; `undefined` where there is none, as in projects of Foundry. */
  readonly manifest: string | undefined
  /** Names and ranges of all dependencies. */
  readonly packages: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

/** The text of a file of the project; `undefined` where there is none. */
export function textOf(folder: string, name: string): string | undefined {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The first of the names that is a file of the folder. */
export function firstOf(folder: string, names: readonly string[]): string | undefined {
  return names.find((name) => existsSync(join(folder, name)))
}

/** The names that the configuration of Hardhat can have. */
export const HARDHAT_CONFIGS = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'].map((end) => `hardhat.config.${end}`)

function kindOf(folder: string, packages: Readonly<Record<string, string>>): ProjectKind {
  if (firstOf(folder, HARDHAT_CONFIGS) !== undefined) return 'hardhat'
  if (firstOf(folder, ['foundry.toml']) !== undefined) return 'foundry'
  if (packages.viem !== undefined) return 'viem'
  if (packages.ethers !== undefined) return 'ethers'
  throw refused(
    `${folder} holds no project of a known kind: no configuration of Hardhat, no foundry.toml, and no package.json with ` +
      `viem or ethers. Name another folder, or the kind with --kind (${PROJECT_KINDS.join(', ')}).`,
  )
}

/** Reads a project. Throws `invalid-options` where its manifest is malformed, or its kind is neither given nor known. */
export function readProject(folder: string, given: ProjectKind | undefined): Project {
  if (!existsSync(folder)) throw refused(`There is no folder ${folder}.`)
  const manifest = textOf(folder, 'package.json')
  let content: z.infer<typeof Manifest>
  try {
    content = Manifest.parse(parseManifest(manifest ?? '{}'))
  } catch {
    throw refused(`${join(folder, 'package.json')} is not the manifest of a package.`)
  }
  const packages = { ...content.peerDependencies, ...content.dependencies, ...content.devDependencies }
  const kind = given ?? kindOf(folder, packages)
  if (manifest === undefined && kind !== 'foundry') {
    throw refused(`There is no package.json in ${folder}: make one with npm init.`)
  }
  return { kind, folder, manifest, packages, scripts: content.scripts ?? {} }
}
