/** The verify plugins of Hardhat 2 and 3 and Foundry's verify, unmodified, against each API of the node that they know. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeAbiParameters } from 'viem'
import { compile } from '../compile.mjs'
import { installFor22, linkPackages, NODE_22 } from '../node-22.mjs'
import { HERE, installed, output, rpc, run, startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'
import { deploy, deployAll } from '../verify/deploy.mjs'

const ROOT = join(HERE, '../..')
const ENV = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
const ARGUMENTS = ['7', 'a box']
/** The node looks for compilers where it starts. */
const startNode = () => startTandem({ cwd: HERE })

/** A project in a new folder, with links to the packages of a folder. */
function assemble(version, modules) {
  const folder = join(ROOT, '.build/tools/verify', version)
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(HERE, 'verify', version), folder, { recursive: true })
  cpSync(join(HERE, 'verify/contracts'), join(folder, 'contracts'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  linkPackages(modules, join(folder, 'node_modules'))
  return folder
}

/** What the node knows of a contract. */
async function nameAt(url, address) {
  const found = await rpc(url, 'evm_sourcesAt', address)
  return found === null ? null : [found.match, found.name]
}

/** Runs a check with a new node, on which the contracts are deployed, and the verify task of a project. */
async function onNode(check, title, { project, provider }, work) {
  const { folder, program, hardhat, config } = project
  const node = await startNode()
  const verify = (...args) =>
    run(program, [hardhat, ...config, 'verify', '--network', 'tandem', ...args], {
      cwd: folder,
      env: { ...ENV, NODE_URL: node.url, PROVIDER: provider },
    })
  try {
    const artifactOf = (name) =>
      JSON.parse(readFileSync(join(folder, `artifacts/contracts/Box.sol/${name}.json`), 'utf8'))
    const contracts = await deployAll(node.url, artifactOf)
    await check(`${provider}: ${title}`, () => work({ url: node.url, verify, ...contracts }))
  } finally {
    await node.stop()
  }
}

/** The verify task by each provider; `hasMetadata`: Sourcify gets the metadata and not the settings. */
async function checkHardhat(check, project) {
  const { folder, program, hardhat, config, hasMetadata } = project
  await output(program, [hardhat, ...config, 'compile'], { cwd: folder, env: ENV })
  for (const provider of ['etherscan', 'blockscout', 'sourcify']) {
    const on = (title, work) => onNode(check, title, { project, provider }, work)
    await on('library, immutables, arguments', async ({ url, verify, box }) => {
      const { stdout, stderr } = await verify(box, ...ARGUMENTS)
      assert.match(stdout, /successfully/i, stdout + stderr)
      // With the addresses of libraries in the settings, the metadata is another one than that of the code.
      const match = hasMetadata && provider === 'sourcify' ? 'exact' : 'partial'
      assert.deepEqual(await nameAt(url, box), [match, 'Box'])
      assert.match((await verify(box, ...ARGUMENTS)).stdout, /already.*verified/)
    })
    await on('a proxy', async ({ url, verify, proxy, twin }) => {
      const { stdout, stderr } = await verify(proxy, twin)
      assert.match(stdout, /successfully/i, stdout + stderr)
      assert.deepEqual(await nameAt(url, proxy), ['exact', 'Proxy'])
    })
    await on('code of nobody is refused', async ({ url, verify }) => {
      const stray = await deploy(url, '0x6001600c60003960016000f300')
      const { code, stdout, stderr } = await verify(stray)
      assert.notEqual(code, 0, stdout + stderr)
      assert.equal(await nameAt(url, stray), null)
    })
  }
}

export async function hardhat2Verify() {
  const { check, results } = createChecks()
  const folder = assemble('2', installed(''))
  const hardhat = join(folder, 'node_modules/hardhat/internal/cli/bootstrap.js')
  const config = ['--config', 'hardhat.config.cjs']
  await checkHardhat(check, { folder, hardhat, program: process.execPath, config, hasMetadata: true })
  return outcomeOf(results())
}

export async function hardhat3Verify() {
  const { check, results } = createChecks()
  const folder = assemble('3', installFor22('hardhat-3'))
  const hardhat = join(folder, 'node_modules/hardhat/dist/src/cli.js')
  await checkHardhat(check, { folder, hardhat, program: NODE_22, config: [], hasMetadata: false })
  return outcomeOf(results())
}

const FORGE = installed('@foundry-rs/forge-linux-amd64/bin/forge')
const PROJECT = join(HERE, 'foundry')

/** A home folder in which Foundry finds the JavaScript build of solc where it would install one. */
function foundryHome(version) {
  const home = join(ROOT, '.build/tools/foundry-home')
  const short = version.replace(/\+.*/, '')
  const folder = join(home, '.svm', short)
  mkdirSync(folder, { recursive: true })
  const program = `#!/bin/sh\nexec '${process.execPath}' '${join(HERE, 'solc.mjs')}' "$@"\n`
  writeFileSync(join(folder, `solc-${short}`), program, { mode: 0o755 })
  return home
}

/** Arguments of Counter's constructor. */
const COUNTER_WORDS = encodeAbiParameters([{ type: 'uint256' }], [5n])

/**
 * The configuration of the project with a key for the chain: without an entry forge has none for a chain that it does not
 * know, and with one it takes `--verifier sourcify` for Etherscan.
 */
function configWithKey() {
  const file = join(ROOT, '.build/tools/foundry-with-key.toml')
  const entry = '[etherscan]\ntandem = { key = "any", chain = 33, url = "http://127.0.0.1:4444/api" }\n'
  writeFileSync(file, `${readFileSync(join(PROJECT, 'foundry.toml'), 'utf8')}\n${entry}`)
  return file
}

/** Runs a check with a new node, on which a counter is deployed, and `forge verify-contract` for it by a provider. */
async function withCounter(check, title, provider, work) {
  const { version } = compile('foundry/src/Counter.sol')
  const env = {
    ...{ NO_COLOR: '1', HOME: foundryHome(version) },
    ...(provider === 'etherscan' && { FOUNDRY_CONFIG: configWithKey() }),
  }
  const out = join(ROOT, '.build/tools/foundry/out/Counter.sol/Counter.json')
  const { bytecode } = JSON.parse(readFileSync(out, 'utf8'))
  const node = await startNode()
  try {
    const counter = await deploy(node.url, bytecode.object + COUNTER_WORDS.slice(2))
    const verify = (...args) =>
      run(
        FORGE,
        [
          ...['verify-contract', '--verifier', provider],
          ...['--verifier-url', `${node.url}${provider === 'sourcify' ? '/' : '/api'}`],
          ...['--rpc-url', node.url, '--chain', '33', '--watch'],
          // With the commit, and without the cache, by which forge would look the commit up on the internet.
          ...['--compiler-version', version, '--compilation-profile', 'default'],
          ...[...args, counter, 'src/Counter.sol:Counter'],
        ],
        { cwd: PROJECT, env },
      )
    await check(`--verifier ${provider}: ${title}`, () => work({ url: node.url, counter, verify }))
  } finally {
    await node.stop()
  }
}

export async function forgeVerify() {
  const { check, results } = createChecks()
  await output(FORGE, ['build'], { cwd: PROJECT, env: { NO_COLOR: '1' } })
  const verifies = (title, provider, kind, ...args) =>
    withCounter(check, title, provider, async ({ url, counter, verify }) => {
      const { code, stdout, stderr } = await verify(...args)
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, /successfully verified/, stdout + stderr)
      assert.deepEqual(await nameAt(url, counter), [kind, 'Counter'])
      const again = await verify(...args)
      if (kind === 'exact') assert.match(again.stdout, /already verified/, again.stdout + again.stderr)
    })
  for (const provider of ['etherscan', 'blockscout', 'custom', 'sourcify']) {
    await verifies('standard JSON', provider, 'exact', '--constructor-args', COUNTER_WORDS)
  }
  await verifies('--guess-constructor-args', 'etherscan', 'exact', '--guess-constructor-args')
  await verifies('--flatten', 'etherscan', 'partial', '--flatten', '--constructor-args', COUNTER_WORDS)
  const other = encodeAbiParameters([{ type: 'uint256' }], [6n])
  await withCounter(check, 'other arguments are refused', 'etherscan', async ({ url, counter, verify }) => {
    const { code, stdout, stderr } = await verify('--constructor-args', other)
    assert.notEqual(code, 0, stdout + stderr)
    assert.equal(await nameAt(url, counter), null)
  })
  return outcomeOf(results())
}
