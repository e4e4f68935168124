/**
 * Well-known contracts with the code, nonce and storage that their deployment leaves at their addresses.
 *
 * `codes.json` has the runtime code, zeros where a constructor writes what depends on the chain. The codes are those of the
 * sources below; `test/chain/predeploys` compares their hashes with published ones, and that of RIF Relay with what its
 * creation code makes.
 */
import { concat, fromBigIntFixed } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import codes from './codes.json' with { type: 'json' }
import type { Domain, Predeploy } from './model.ts'
import type { PredeployName } from './names.ts'
import { RELAY, RELAY_NONCES } from './relay.ts'

const ENTRYPOINT = {
  source: 'https://github.com/eth-infinitism/account-abstraction',
  licence: 'GPL-3.0',
} as const

/** `status` of OpenZeppelin's `ReentrancyGuard`: not entered. */
const NOT_ENTERED = [[2n, 1n]] as const

function entryPoint(
  version: '0.6.0' | '0.7.0' | '0.8.0',
  address: Hex,
  creator: Hex,
  rest: Partial<Predeploy>,
): Predeploy[] {
  const tag = { ...ENTRYPOINT, source: `${ENTRYPOINT.source}/tree/v${version}` }
  return [
    {
      ...tag,
      title: `ERC-4337 EntryPoint ${version}`,
      address,
      code: `entrypoint-${version}`,
      nonce: 2n,
      ...rest,
    },
    {
      ...tag,
      title: `ERC-4337 SenderCreator ${version}`,
      address: creator,
      code: `sendercreator-${version}`,
      nonce: 1n,
    },
  ]
}

const ENTRYPOINT_6 = entryPoint(
  '0.6.0',
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x7fc98430eaedbb6070b35b39d798725049088348',
  { storage: NOT_ENTERED },
)
const ENTRYPOINT_7 = entryPoint(
  '0.7.0',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0xefc2c1444ebcc4db75e7613d20c6a62ff67a167c',
  { storage: NOT_ENTERED },
)
const ENTRYPOINT_8 = entryPoint(
  '0.8.0',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x449ed7c3e6fee6a97311d4b55475df59c44add33',
  {
    domain: {
      chainIdAt: 13_774,
      separatorAt: 13_585,
      type: 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
      texts: ['ERC4337', '1'],
    },
  },
)

/** The contracts of each name. */
export const PREDEPLOYS: Readonly<Record<PredeployName, readonly Predeploy[]>> = {
  create2: [
    {
      title: 'deterministic deployment proxy',
      address: '0x4e59b44847b379578588920ca78fbf26c0b4956c',
      source: 'https://github.com/Arachnid/deterministic-deployment-proxy',
      licence: 'Apache-2.0',
      code: 'create2',
      nonce: 0n,
    },
  ],
  multicall3: [
    {
      title: 'Multicall3',
      address: '0xca11bde05977b3631167028862be2a173976ca11',
      source: 'https://github.com/mds1/multicall3',
      licence: 'MIT',
      code: 'multicall3',
      nonce: 1n,
    },
  ],
  createx: [
    {
      title: 'CreateX',
      address: '0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed',
      source: 'https://github.com/pcaversaccio/createx',
      licence: 'AGPL-3.0',
      code: 'createx',
      nonce: 1n,
    },
  ],
  safe: [
    {
      title: 'Safe singleton factory',
      address: '0x914d7fec6aac8cd542e72bca78b30650d45643d7',
      source: 'https://github.com/safe-global/safe-singleton-factory',
      licence: 'MIT',
      // The same code at an address that the signer of its deployment transaction chose.
      code: 'create2',
      nonce: 1n,
    },
  ],
  permit2: [
    {
      title: 'Permit2',
      address: '0x000000000022d473030f116ddee9f6b43ac78ba3',
      source: 'https://github.com/Uniswap/permit2',
      licence: 'MIT',
      code: 'permit2',
      nonce: 1n,
      domain: {
        chainIdAt: 6_945,
        separatorAt: 6_983,
        type: 'EIP712Domain(string name,uint256 chainId,address verifyingContract)',
        texts: ['Permit2'],
      },
    },
  ],
  relay: RELAY,
  entrypoint: [...ENTRYPOINT_6, ...ENTRYPOINT_7, ...ENTRYPOINT_8],
  'entrypoint-0.6': ENTRYPOINT_6,
  'entrypoint-0.7': ENTRYPOINT_7,
  'entrypoint-0.8': ENTRYPOINT_8,
}

const hashOf = (text: string) => keccak256(new TextEncoder().encode(text))
const word = (value: bigint) => fromBigIntFixed(value, 32)

/** The separator of a domain (EIP-712), and the chain id, as the constructor writes them into the code. */
function inDomain(
  code: Uint8Array,
  address: Hex,
  { type, texts, chainIdAt, separatorAt }: Domain,
  chainId: number,
): Uint8Array {
  const id = word(BigInt(chainId))
  const separator = keccak256(concat(hashOf(type), ...texts.map(hashOf), id, word(BigInt(address))))
  const written = code.slice()
  written.set(id, chainIdAt)
  written.set(separator, separatorAt)
  return written
}

/** The code of a contract on a chain. */
export function codeOn(chainId: number, { code, address, domain }: Predeploy): Uint8Array {
  const bytes = fromHex(codes[code] as Hex)
  return domain === undefined ? bytes : inDomain(bytes, address, domain, chainId)
}

/** An account as a genesis and the edits of a fork take it. */
interface PredeployedAccount {
  readonly code: Uint8Array
  readonly nonce: bigint
  readonly storage: ReadonlyMap<bigint, bigint>
}

/** The accounts of the named contracts, by address. */
export function predeployedAccounts(
  names: readonly PredeployName[],
  chainId: number,
): Map<Hex, PredeployedAccount> {
  const contracts = names.flatMap((name) => PREDEPLOYS[name])
  return new Map(
    contracts.map((contract) => {
      const { address, nonce, storage } = contract
      return [address, { code: codeOn(chainId, contract), nonce, storage: new Map(storage) }]
    }),
  )
}

/** The nonces that the deployments of the named contracts leave on their senders of a new local chain. */
export function predeployedNonces(names: readonly PredeployName[]): ReadonlyMap<Hex, bigint> {
  return names.includes('relay') ? RELAY_NONCES : new Map()
}
