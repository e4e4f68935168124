/** Methods about the node itself, and fees. */
import { z } from 'zod'
import { RELAY_FEE } from '../../bitcoin/chain/policy.ts'
import { Amount } from '../amount.ts'
import { checksumOf, withChecksum } from '../descriptor.ts'
import { type Category, type Method, method, usageOf } from '../method.ts'
import { integer, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'

/** The release of Bitcoin Core whose forms the answers have: the last one but two with wallets of the old kind. */
const RELEASE = { version: 270200, subversion: '/Satoshi:27.2.0/' } as const

const getNetworkInfo = method({
  name: 'getnetworkinfo',
  category: 'Network',
  help: 'Returns the version; there are no peers.',
  parameters: {},
  handle: () => ({
    ...RELEASE,
    protocolversion: 70016,
    localservices: '0000000000000409',
    localservicesnames: ['NETWORK', 'WITNESS', 'NETWORK_LIMITED'],
    localrelay: true,
    timeoffset: 0,
    networkactive: true,
    connections: 0,
    connections_in: 0,
    connections_out: 0,
    networks: [],
    relayfee: new Amount(RELAY_FEE),
    incrementalfee: new Amount(RELAY_FEE),
    localaddresses: [],
    warnings: '',
  }),
})

const help = method({
  name: 'help',
  category: 'Control',
  help: 'Returns all methods, or what one does.',
  parameters: { command: text.optional() },
  handle({ command }, { methods }) {
    const all = [...methods.values()]
    if (command !== undefined) {
      const found = methods.get(command)
      return found === undefined
        ? `help: unknown command: ${command.slice(0, 100)}`
        : `${usageOf(found)}\n\n${found.help}\n`
    }
    const categories: readonly Category[] = [...new Set(all.map(({ category }) => category))].sort()
    return categories
      .map((name) =>
        [`== ${name} ==`, ...all.filter(({ category }) => category === name).map(usageOf)].join('\n'),
      )
      .join('\n\n')
  },
})

const estimateSmartFee = method({
  name: 'estimatesmartfee',
  category: 'Util',
  help: 'Returns a fee, coins for 1,000 virtual bytes. There is no market on a local chain: it is the fee that wallets pay by default.',
  parameters: { conf_target: integer, estimate_mode: text.default('conservative') },
  handle({ conf_target: target, estimate_mode: mode }) {
    if (target < 1 || target > 1008)
      throw new RpcFailure(CODE.PARAMETER, 'Invalid conf_target, must be between 1 and 1008')
    if (!/^(unset|economical|conservative)$/i.test(mode))
      throw new RpcFailure(
        CODE.PARAMETER,
        'Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"',
      )
    return { feerate: new Amount(20_000n), blocks: Math.max(target, 2) }
  },
})

const getDescriptorInfo = method({
  name: 'getdescriptorinfo',
  category: 'Util',
  help: 'Returns a descriptor with its checksum.',
  parameters: { descriptor: text },
  handle({ descriptor }) {
    const [body = ''] = descriptor.split('#')
    return {
      descriptor: withChecksum(body),
      checksum: checksumOf(body),
      isrange: body.includes('*'),
      issolvable: !/^(addr|raw)\(/.test(body),
      hasprivatekeys: false,
    }
  },
})

const fixed = (name: string, category: Category, text: string, value: unknown): Method =>
  method({ name, category, help: text, parameters: {}, handle: () => value })

/** About the node itself, and fees. */
export const CONTROL_METHODS: readonly Method[] = [
  getNetworkInfo,
  help,
  estimateSmartFee,
  getDescriptorInfo,
  fixed('ping', 'Network', 'Returns null; there are no peers.', null),
  fixed('getpeerinfo', 'Network', 'Returns no peers.', []),
  fixed('getconnectioncount', 'Network', 'Returns 0; there are no peers.', 0),
  fixed('getzmqnotifications', 'Control', 'Returns nothing; there are no such notifications.', []),
  method({
    name: 'getindexinfo',
    category: 'Util',
    help: 'Returns the indexes: that of transactions.',
    parameters: { index_name: text.optional() },
    handle: (_, { bitcoin }) => ({
      txindex: { synced: true, best_block_height: bitcoin.chain.state.active.size - 1 },
    }),
  }),
  method({
    name: 'uptime',
    category: 'Control',
    help: 'Returns seconds since the node began to answer.',
    parameters: {},
    handle: (_, { bitcoin, startedAt }) => Math.max(bitcoin.clock() - startedAt, 0),
  }),
  method({
    name: 'echo',
    category: 'Control',
    help: 'Returns its parameters.',
    parameters: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`arg${i}`, z.unknown()])),
    handle: (given) => Object.values(given).filter((value) => value !== undefined),
  }),
]
