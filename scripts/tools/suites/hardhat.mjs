/** The Hardhat 2 project of `hardhat/`: on Hardhat's own network as the control, then against the preset. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HERE, installed, output, run, startTandem, withFolder } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const PROJECT = join(HERE, 'hardhat')
const HARDHAT = installed('hardhat/internal/cli/bootstrap.js')
const ENV = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', HARDHAT_IGNITION_CONFIRM_DEPLOYMENT: 'true' }

/** Rules of Ethereum that this chain does not have: docs/differences.md#suites-for-ethereum. */
const BY_RULE = [
  'a contract has nonce 1 when it is created',
  'the first contract of a factory has the address of nonce 1',
  'a reverted CREATE leaves its return data',
  'a precompiled contract has no code',
  'a call passes on 63 of 64 parts of the gas',
].map((title) => `by the rules of Ethereum ${title}`)

/** The journals of deployments, which belong to one chain. */
const DEPLOYMENTS = join(PROJECT, 'ignition/deployments')
const forgetDeployments = () => rmSync(DEPLOYMENTS, { recursive: true, force: true })

/** The tests of the project on one of its networks. */
async function test(network, env) {
  return withFolder(async (folder) => {
    const report = join(folder, 'report.json')
    const { code, stdout, stderr } = await run(
      process.execPath,
      [HARDHAT, '--config', 'hardhat.config.cjs', '--network', network, 'test'],
      { cwd: PROJECT, env: { ...ENV, ...env, MOCHA_REPORT: report } },
    )
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

/** The control: every test passes on the node that it was written for. */
export async function hardhatControl() {
  return outcomeOf(await test('hardhat', {}))
}

export async function hardhatPreset() {
  const node = await startTandem('--preset', 'hardhat')
  forgetDeployments()
  try {
    return outcomeOf(await test('localhost', { NODE_URL: node.url }), BY_RULE)
  } finally {
    forgetDeployments()
    await node.stop()
  }
}

/** `hardhat ignition deploy`, and again from its journal. */
export async function ignition() {
  const { check, results } = createChecks()
  const node = await startTandem('--preset', 'hardhat')
  const deploy = () =>
    output(
      process.execPath,
      [
        ...[HARDHAT, '--config', 'hardhat.config.cjs', '--network', 'localhost'],
        ...['ignition', 'deploy', 'ignition/modules/market.cjs', '--deployment-id', 'market'],
      ],
      { cwd: PROJECT, env: { ...ENV, NODE_URL: node.url } },
    )
  forgetDeployments()
  try {
    await check('deploys a module', async () => {
      assert.match(await deploy(), /successfully deployed[\s\S]*Market#Badge - 0x/)
    })
    await check('finds it deployed', async () => {
      assert.match(await deploy(), /Nothing new to deploy/)
    })
  } finally {
    forgetDeployments()
    await node.stop()
  }
  return outcomeOf(results())
}
