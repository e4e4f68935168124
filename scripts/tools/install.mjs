/** Installs the packages of this folder once; none of their install scripts run. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { HERE, installed } from './nodes.mjs'

/** Throws when npm cannot. */
export function installTools() {
  if (existsSync(installed('.package-lock.json'))) return
  const { status } = spawnSync('npm', ['ci', '--silent', '--ignore-scripts', '--prefix', HERE], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the packages of scripts/tools could not be installed')
}
