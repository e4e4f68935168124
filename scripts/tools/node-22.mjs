/** Node.js 22, which some packages need, and folders of such packages. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { HERE } from './nodes.mjs'

const RELEASES = join(HERE, '../node-versions')
/** The program. */
export const NODE_22 = join(RELEASES, 'node_modules/node-22/bin/node')

/** Installs the packages of a folder by the npm of this machine on a release of Node.js, which picks their binaries. */
function install(folder, node) {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  const args = ['ci', '--silent', '--ignore-scripts', '--prefix', folder]
  const { status } = spawnSync('npm', args, { stdio: 'inherit', env })
  if (status !== 0) throw new Error(`the packages of ${folder} could not be installed`)
}

/**
 * Installs Node.js 22 and the packages of a folder beside this one, once; none of their install scripts run.
 * @returns {string} the folder of the packages
 */
export function installFor22(name) {
  const folder = join(HERE, '..', name)
  if (!existsSync(NODE_22)) install(RELEASES, process.execPath)
  if (!existsSync(join(folder, 'node_modules/.package-lock.json'))) install(folder, NODE_22)
  return join(folder, 'node_modules')
}

/** Links the packages of one folder into another one. */
export function linkPackages(from, to) {
  for (const name of readdirSync(from)) {
    if (!name.startsWith('.')) symlinkSync(join(from, name), join(to, name))
  }
}
