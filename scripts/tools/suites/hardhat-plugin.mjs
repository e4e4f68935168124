/** The projects of `hardhat-plugin/` with the plugin of `packages/hardhat-tandem`, which `tandem init` adds to them. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installFor22, linkPackages, NODE_22 } from '../node-22.mjs'
import { HERE, installed, output, run, withFolder } from '../nodes.mjs'
import { outcomeOf } from '../suite.mjs'

const ROOT = join(HERE, '../..')

/**
 * Makes a project in a new folder: its files, links to the packages of `modules`, this package, and a copy of the plugin,
 * which a link would take out of the project.
 */
function assemble(version, modules) {
  const folder = join(ROOT, '.build/tools/hardhat-plugin', version)
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(HERE, 'hardhat-plugin', version), folder, { recursive: true })
  cpSync(join(HERE, 'hardhat/contracts'), join(folder, 'contracts'), { recursive: true })
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  linkPackages(modules, packages)
  symlinkSync(ROOT, join(packages, 'tandem'))
  cpSync(join(ROOT, 'packages/hardhat-tandem'), join(packages, 'hardhat-tandem'), { recursive: true })
  execFileSync(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'init', '--yes', folder])
  return folder
}

/** Runs `hardhat test` in a project; Mocha's report of it. */
async function test(cwd, node, args) {
  return withFolder(async (temporary) => {
    const report = join(temporary, 'report.json')
    const env = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', MOCHA_REPORT: report }
    const { code, stdout, stderr } = await run(node, args, { cwd, env })
    try {
      const { passes, failures } = JSON.parse(readFileSync(report, 'utf8'))
      return {
        passed: passes.map(({ fullTitle }) => fullTitle),
        failed: failures.map(({ fullTitle, err }) => ({ title: fullTitle, error: err.stack })),
      }
    } catch (cause) {
      throw new Error(`hardhat test ended with ${code} and no report:\n${stdout}${stderr}`, { cause })
    }
  })
}

export async function hardhat2Plugin() {
  const folder = assemble('2', installed(''))
  const hardhat = join(folder, 'node_modules/hardhat/internal/cli/bootstrap.js')
  return outcomeOf(await test(folder, process.execPath, [hardhat, '--config', 'hardhat.config.cjs', 'test']))
}

/** The project of Hardhat 3, with its packages installed. */
function assembleHardhat3() {
  const folder = assemble('3', installFor22('hardhat-3'))
  return { folder, hardhat: join(folder, 'node_modules/hardhat/dist/src/cli.js') }
}

export async function hardhat3Plugin() {
  const { folder, hardhat } = assembleHardhat3()
  return outcomeOf(await test(folder, NODE_22, [hardhat, 'test', 'mocha']))
}

/** Runs a task of Hardhat 3 in that project, for its standard output. */
export async function runHardhat3(args, env) {
  const { folder, hardhat } = assembleHardhat3()
  return output(NODE_22, [hardhat, ...args], { cwd: folder, env })
}
