/** The cells of federations, and of the outputs that they can spend. */
import type { IsActive } from '../../../../chain/activations.ts'
import { EMPTY, fromBigInt } from '../../../../encoding/bytes.ts'
import { asBytes, asList, asNumber, decodeRlp, encodeRlp } from '../../../../encoding/rlp.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { type BridgeNetwork, type FederationFormat, FORMAT } from '../constants/network.ts'
import { type Federation, type FederationRecord, makeFederation } from '../federation/federation.ts'
import {
  decodeMember,
  decodePendingMembers,
  encodeMember,
  encodePendingMembers,
  type Member,
} from '../federation/members.ts'
import { outputList, type SpendableOutput } from './outputs.ts'
import { type BridgeStore, Cell, type CellFormat, decodeInteger, encodeInteger, single } from './store.ts'

const FORMATS: readonly FederationFormat[] = Object.values(FORMAT)

/** An unknown version is a plain multisig, as the reference node has it. */
function formatOf(version: bigint): FederationFormat {
  return FORMATS.find((format) => BigInt(format) === version) ?? FORMAT.standard
}

function encodeRecord({ creationTime, creationBlock, members }: FederationRecord, hasThreeKeys: boolean) {
  return encodeRlp([
    fromBigInt(BigInt(creationTime)),
    fromBigInt(BigInt(creationBlock)),
    members.map((member) => encodeMember(member, hasThreeKeys)),
  ])
}

/** What an absent federation leaves in its two cells. */
type Absence = readonly [version: Uint8Array | undefined, federation: Uint8Array]

/** A federation in the cells of its format and of itself. */
function federationFormat(
  slots: readonly [version: bigint, federation: bigint],
  { network, isActive }: FederationRules,
  { absence, isWrittenBack }: { absence: Absence; isWrittenBack: boolean },
): CellFormat<Federation | undefined> {
  return {
    slots,
    decode([versionBytes = EMPTY, bytes = EMPTY]) {
      if (bytes.length === 0) return undefined
      const version = decodeInteger(versionBytes)
      const [time, block, members] = asList(decodeRlp(bytes), 'federation')
      const record = {
        format: version === undefined ? FORMAT.standard : formatOf(version),
        creationTime: asNumber(time, 'creation time'),
        creationBlock: asNumber(block, 'creation block'),
        members: asList(members, 'members').map((item) => decodeMember(item, version !== undefined)),
      }
      return makeFederation(record, network, isActive)
    },
    encode(federation) {
      const hasThreeKeys = isActive('rskip123')
      if (federation === undefined) return hasThreeKeys ? absence : [undefined, EMPTY]
      const version = encodeInteger(BigInt(federation.format))
      return [hasThreeKeys ? version : undefined, encodeRecord(federation, hasThreeKeys)]
    },
    isWrittenBack: (federation) => isWrittenBack && federation !== undefined,
  }
}

const STANDARD_VERSION = encodeInteger(BigInt(FORMAT.standard))

/** The members of the federation that is being voted; `undefined` when there is none. */
function pendingFormat({ isActive }: FederationRules): CellFormat<readonly Member[] | undefined> {
  return {
    slots: [CELL.pendingFederationVersion, CELL.pendingFederation],
    decode: ([version = EMPTY, bytes = EMPTY]) =>
      bytes.length === 0 ? undefined : decodePendingMembers(bytes, version.length > 0),
    encode(members) {
      const hasThreeKeys = isActive('rskip123')
      const bytes = members === undefined ? EMPTY : encodePendingMembers(members, hasThreeKeys)
      return [hasThreeKeys ? STANDARD_VERSION : undefined, bytes]
    },
    isWrittenBack: () => false,
  }
}

/** The cell of the newest federation's outputs: testnet began new lists twice. */
function newOutputsSlot({ network, isActive }: FederationRules): bigint {
  if (network.parent.name !== 'testnet' || !isActive('rskip284')) return CELL.newOutputs
  return isActive('rskip293') ? CELL.newOutputsOfTestnetSinceHop : CELL.newOutputsOfTestnet
}

function heightCell(slot: bigint): CellFormat<number | undefined> {
  return single(
    slot,
    (bytes) => asNumber(decodeRlp(bytes), 'height'),
    (height) => encodeInteger(BigInt(height)),
  )
}

/** Network and rules by which cells are read. */
export interface FederationRules {
  readonly network: BridgeNetwork
  readonly isActive: IsActive
}

/** The cells of federations during one call. */
export class FederationCells {
  readonly newOutputs: Cell<readonly SpendableOutput[]>
  readonly oldOutputs: Cell<readonly SpendableOutput[]>
  /** The federation that was committed last, active once it is old enough. */
  readonly newFederation: Cell<Federation | undefined>
  /** The one before it, until its coins have migrated. */
  readonly oldFederation: Cell<Federation | undefined>
  /** Members of the federation that is being voted. */
  readonly pending: Cell<readonly Member[] | undefined>
  /** The federation that was voted and is being validated (RSKIP-419). */
  readonly proposed: Cell<Federation | undefined>
  /** Creation height of the active federation, and of the one that will be active (RSKIP-186). */
  readonly activeCreationHeight: Cell<number | undefined>
  readonly nextCreationHeight: Cell<number | undefined>
  /** Output script of the federation that retired last (RSKIP-186). */
  readonly lastRetiredScript: Cell<Uint8Array | undefined>

  constructor(store: BridgeStore, rules: FederationRules) {
    this.newOutputs = new Cell(store, outputList(newOutputsSlot(rules)))
    this.oldOutputs = new Cell(store, outputList(CELL.oldOutputs))
    const kept = (slots: readonly [bigint, bigint], absence: Absence, isWrittenBack: boolean) =>
      new Cell(store, federationFormat(slots, rules, { absence, isWrittenBack }))
    this.newFederation = kept([CELL.newFederationVersion, CELL.newFederation], [undefined, EMPTY], true)
    this.oldFederation = kept(
      [CELL.oldFederationVersion, CELL.oldFederation],
      [STANDARD_VERSION, EMPTY],
      false,
    )
    this.proposed = kept([CELL.proposedFederationVersion, CELL.proposedFederation], [EMPTY, EMPTY], false)
    this.pending = new Cell(store, pendingFormat(rules))
    this.activeCreationHeight = new Cell(store, heightCell(CELL.activeCreationHeight))
    this.nextCreationHeight = new Cell(store, heightCell(CELL.nextCreationHeight))
    this.lastRetiredScript = new Cell(
      store,
      single(
        CELL.lastRetiredScript,
        (bytes) => {
          const [script] = asList(decodeRlp(bytes), 'script')
          return asBytes(script, 'script')
        },
        (script) => frameStrings([script]),
      ),
    )
  }
}
