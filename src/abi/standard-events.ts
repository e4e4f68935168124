/** The events of widespread standards, by which logs are decoded where no ABI is known. */
import type { Hex } from '../encoding/hex.ts'
import type { AbiCodec } from './codec.ts'
import { type AbiEntry, topicOf } from './entry.ts'
import { type Decoded, EventDecoder, type LogData } from './event-decoder.ts'

/** Events of one name differ in what is indexed: the first that fits is taken. */
const SIGNATURES = [
  // ERC-20, ERC-721
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  // ERC-1155
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event URI(string value, uint256 indexed id)',
  // ERC-4626, wrapped coins
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
  // ERC-1967
  'event Upgraded(address indexed implementation)',
  'event AdminChanged(address previousAdmin, address newAdmin)',
  'event BeaconUpgraded(address indexed beacon)',
  // ERC-173, OpenZeppelin's access control, pauses and initialisers
  'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
  'event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner)',
  'event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)',
  'event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)',
  'event RoleAdminChanged(bytes32 indexed role, bytes32 indexed previousAdminRole, bytes32 indexed newAdminRole)',
  'event Paused(address account)',
  'event Unpaused(address account)',
  'event Initialized(uint64 version)',
  'event Initialized(uint8 version)',
  // ERC-2535
  'event DiamondCut((address facetAddress, uint8 action, bytes4[] functionSelectors)[] diamondCut, address init, bytes calldata_)',
] as const

/** The entries by topic, and their decoder. */
interface Events {
  readonly byTopic: ReadonlyMap<Hex, readonly AbiEntry[]>
  readonly decoder: EventDecoder
}

const known = new WeakMap<AbiCodec, Events>()

function eventsOf(codec: AbiCodec): Events {
  const found = known.get(codec)
  if (found !== undefined) return found
  const byTopic = new Map<Hex, readonly AbiEntry[]>()
  for (const entry of codec.parse(SIGNATURES)) {
    const topic = topicOf(entry)
    byTopic.set(topic, [...(byTopic.get(topic) ?? []), entry])
  }
  const events = { byTopic, decoder: new EventDecoder() }
  known.set(codec, events)
  return events
}

/** A log as an event of a standard; `undefined` where it is none. */
export function standardEvent(log: LogData, codec: AbiCodec): Decoded | undefined {
  const { byTopic, decoder } = eventsOf(codec)
  for (const entry of byTopic.get(log.topics[0] ?? '0x') ?? []) {
    const decoded = decoder.decode(entry, log, codec)
    if (decoded !== undefined) return decoded
  }
  return undefined
}
