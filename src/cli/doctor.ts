/** `tandem doctor`: looks at what a start needs, and says what is wrong and what to do. Changes nothing. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { z } from 'zod'
import { counted } from '../counted.ts'
import { resolveServeOptions } from '../options/options.ts'
import { readManifest } from '../store/package-files.ts'
import { checkAccess, checkDatabase, checkDisk } from './doctor/directory.ts'
import { checkCertificate, checkKeyFile } from './doctor/files.ts'
import type { Finding, Verdict } from './doctor/finding.ts'
import {
  availableMemory,
  checkDocker,
  checkMemory,
  checkNativeCode,
  checkNodeRelease,
} from './doctor/machine.ts'
import { checkPeer } from './doctor/peers.ts'
import { type Address, checkPort } from './doctor/ports.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Writers } from './start.ts'
import { columnLines } from './terminal-text.ts'

/** The settings of a start that the checks look at. */
const KEYS = [
  'chain',
  'preset',
  'dataDir',
  'memory',
  'host',
  'port',
  'unsafeOpen',
  'metricsHost',
  'metricsPort',
  'bitcoinRpcPort',
  'apiKeys',
  'tlsCert',
  'tlsKey',
  'json',
]

const COLOURS: Readonly<Record<Verdict, (text: string) => string>> = {
  ok: pc.green,
  note: pc.blue,
  warning: pc.yellow,
  problem: pc.red,
}
/** Characters of the longest verdict. */
const VERDICT_CELLS = 7
/** Characters of the column of checks, at most. */
const CHECK_CELLS = 36

/** What the package runs on and with: the range of Node's releases, and the range of each optional peer. */
const Needs = z.object({
  engines: z.object({ node: z.string() }),
  peerDependencies: z.record(z.string(), z.string()),
})

/** The addresses that a start with these settings listens on. */
function addressesOf({ serve, node }: Settings): Address[] {
  const resolved = resolveServeOptions(serve, { profile: node.profile, preset: node.preset })
  const { host, port, metricsHost = '127.0.0.1', metricsPort, bitcoinRpcPort } = resolved
  return [
    { host, port, flag: '--port' },
    ...(metricsPort === undefined ? [] : [{ host: metricsHost, port: metricsPort, flag: '--metrics-port' }]),
    ...(bitcoinRpcPort === undefined
      ? []
      : [{ host: '127.0.0.1', port: bitcoinRpcPort, flag: '--bitcoin-rpc-port' }]),
  ]
}

function checksOfFiles({ serve: { apiKeys, tlsCert, tlsKey } }: Settings): Promise<Finding>[] {
  return [
    ...(apiKeys === undefined ? [] : [checkKeyFile(apiKeys)]),
    ...(tlsCert === undefined || tlsKey === undefined ? [] : [checkCertificate(tlsCert, tlsKey)]),
  ]
}

/** All findings, in the order in which they are printed. */
async function examine(settings: Settings): Promise<Finding[]> {
  const { engines, peerDependencies } = Needs.parse(readManifest())
  const { dataDir } = settings.node
  const checks: (Finding | undefined | Promise<Finding | undefined>)[] = [
    checkNodeRelease(process.versions.node, engines.node),
    checkNativeCode(),
    checkMemory(availableMemory()),
    ...addressesOf(settings).map(checkPort),
    ...(dataDir === undefined ? [] : [checkAccess(dataDir), checkDisk(dataDir), checkDatabase(dataDir)]),
    ...checksOfFiles(settings),
    ...Object.entries(peerDependencies).map(([name, range]) => checkPeer(resolve(), name, range)),
    checkDocker(),
  ]
  return (await Promise.all(checks)).filter((finding) => finding !== undefined)
}

/** Each finding on its line, with what to do below it. */
function findingLines(findings: readonly Finding[]): string[] {
  const rows = findings.flatMap(({ check, verdict, found, advice }) => [
    { verdict: COLOURS[verdict](verdict.padEnd(VERDICT_CELLS)), cells: [check, found] },
    ...(advice === undefined ? [] : [{ verdict: ' '.repeat(VERDICT_CELLS), cells: ['', advice] }]),
  ])
  const lines = columnLines(
    rows.map(({ cells }) => cells),
    [CHECK_CELLS],
  )
  return rows.map(({ verdict }, i) => `${verdict}  ${lines[i]}`)
}

/** Fills in the command. Its action throws `invalid-options`, and sets the exit code of the process to 1 where a start would fail. */
export function fillDoctorCommand(command: Command, { output }: Writers): void {
  addSettingFlags(command, KEYS)
  command.allowExcessArguments(false).action(async () => {
    const settings = readSettings(typedFlags(command), process.env)
    const findings = await examine(settings)
    const problems = findings.filter(({ verdict }) => verdict === 'problem').length
    if (settings.terminal.json) output.write(JSON.stringify(findings))
    else for (const line of findingLines(findings)) output.write(line)
    if (problems === 0) return
    process.exitCode = 1
    if (!settings.terminal.json)
      output.write(`A start with these settings has ${counted(problems, 'problem')}.`)
  })
}
