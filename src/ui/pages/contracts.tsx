/** `#/contracts` and `#/contracts/<name>`: the contracts whose ABI the node has, and those that the last blocks created. */
import { listOf, orNull } from '../checks.ts'
import { callAll, callFor, RpcError } from '../client.ts'
import { ErrorText } from '../components/action.tsx'
import { FileDrop } from '../components/file-drop.tsx'
import { Field, useText } from '../components/form.tsx'
import { Heading, Section, Show, Table } from '../components/layout.tsx'
import { Pager, usePages } from '../components/pager.tsx'
import { AddressLink, BlockLink, Mono, TransactionLink } from '../components/values.tsx'
import { isKnownContract, type KnownContract, loadAbi } from '../contracts.ts'
import { counted, type Hex, isHex, quantity, toBigInt, toNumber } from '../format.ts'
import { type AbiEntry, type Header, isHeader, isReceipt, type Receipt } from '../model.ts'
import { useQuery } from '../query.ts'
import { linkTo } from '../router.ts'
import { may } from '../store.ts'
import { amountText, loadTokens, STANDARDS, tokenText } from '../tokens.ts'

/** Contracts in the list; a filter finds the others. */
const MOST_SHOWN = 100
/** Blocks that are searched for creations, and how many creations end the search. */
const BLOCKS = 64
const CREATIONS = 20
/** Intrinsic gas of a creation: a block that used less has none. */
const LEAST_GAS = 53_000n

function NameOf({ contract: { name, address } }: { readonly contract: KnownContract }) {
  if (address !== null) return <AddressLink address={address} />
  return <a href={linkTo('contracts', name ?? '')}>{name ?? 'unnamed'}</a>
}

function ContractTable({
  contracts,
  empty,
}: {
  readonly contracts: readonly KnownContract[]
  readonly empty: string
}) {
  return (
    <>
      <Table
        label="Known contracts"
        empty={empty}
        columns={[
          'Contract',
          { name: 'Address', wide: true },
          { name: 'Functions', end: true },
          { name: 'Events', end: true, wide: true },
          { name: 'Errors', end: true, wide: true },
        ]}
        rows={contracts.slice(0, MOST_SHOWN).map((contract, i) => ({
          key: `${contract.address} ${contract.name} ${i}`,
          cells: [
            <NameOf key="name" contract={contract} />,
            contract.address === null ? (
              <span key="address" class="dim">
                any with its code
              </span>
            ) : (
              <Mono key="address">{contract.address}</Mono>
            ),
            contract.functions,
            contract.events,
            contract.errors,
          ],
        }))}
      />
      {contracts.length > MOST_SHOWN && (
        <p class="dim">{counted(contracts.length - MOST_SHOWN, 'further contract')}</p>
      )}
    </>
  )
}

function KnownContracts() {
  const filter = useText()
  const isOpen = may('evm_contracts')
  const contracts = useQuery(
    `contracts ${isOpen}`,
    async (signal) => (isOpen ? callFor(listOf(isKnownContract), 'evm_contracts', [], signal) : null),
    'live',
  )
  const query = filter.value.trim().toLowerCase()
  const isWanted = ({ name, address }: KnownContract): boolean =>
    (name ?? '').toLowerCase().includes(query) || (address?.includes(query) ?? false)
  return (
    <Section title="Known by ABI">
      <FileDrop />
      <Show loaded={contracts}>
        {(all) =>
          all === null ? (
            <p class="dim empty">The node does not list its ABIs for this caller</p>
          ) : (
            <>
              {all.length > 10 && <Field label="Filter" text={filter} placeholder="Name or address" />}
              <ContractTable
                contracts={all.filter(isWanted)}
                empty={query === '' ? 'None yet' : 'None of this name'}
              />
            </>
          )
        }
      </Show>
    </Section>
  )
}

interface Creation {
  readonly address: Hex
  readonly receipt: Receipt
}

/** Creations by the hash of their block. */
const creations = new Map<Hex, readonly Creation[]>()

async function creationsOf(block: Header, signal: AbortSignal): Promise<readonly Creation[]> {
  const known = creations.get(block.hash)
  if (known !== undefined) return known
  const receipts =
    toBigInt(block.gasUsed) < LEAST_GAS
      ? []
      : await callFor(orNull(listOf(isReceipt)), 'eth_getBlockReceipts', [block.hash], signal)
  const found = (receipts ?? []).flatMap((receipt) =>
    receipt.contractAddress !== null && toNumber(receipt.status) === 1
      ? [{ address: receipt.contractAddress, receipt }]
      : [],
  )
  if (creations.size >= 8 * BLOCKS) creations.clear()
  creations.set(block.hash, found)
  return found
}

async function loadCreations(signal: AbortSignal): Promise<readonly Creation[]> {
  const height = toNumber(await callFor(isHex, 'eth_blockNumber', [], signal))
  const headers = await callAll(
    orNull(isHeader),
    Array.from(
      { length: Math.min(BLOCKS, height + 1) },
      (_, i) => ['eth_getHeaderByNumber', [quantity(height - i)]] as const,
    ),
    signal,
  )
  const found: Creation[] = []
  for (const header of headers) {
    if (found.length >= CREATIONS) break
    if (header === null || header instanceof RpcError) continue
    found.push(...[...(await creationsOf(header, signal))].reverse())
  }
  return found.slice(0, CREATIONS)
}

function NewContracts() {
  const found = useQuery('creations', loadCreations, 'live')
  return (
    <Section title="New contracts">
      <Show loaded={found}>
        {(list) => (
          <Table
            label="New contracts"
            empty={`None in the last ${BLOCKS} blocks`}
            columns={['Contract', 'Block', { name: 'By', wide: true }, { name: 'Transaction', wide: true }]}
            rows={list.map(({ address, receipt }) => ({
              key: address,
              cells: [
                <AddressLink key="address" address={address} />,
                <BlockLink key="block" block={receipt.blockNumber} />,
                <AddressLink key="by" address={receipt.from} />,
                <TransactionLink key="hash" hash={receipt.transactionHash} />,
              ],
            }))}
          />
        )}
      </Show>
    </Section>
  )
}

/** The tokens with transfers. */
function Tokens() {
  const loaded = useQuery(`tokens ${may('evm_tokens')}`, loadTokens, 'live')
  const pages = usePages()
  return (
    <Section title="Tokens">
      <Show loaded={loaded}>
        {(tokens) => (
          <>
            <Table
              label="Tokens"
              empty="No transfers of tokens yet"
              columns={['Token', 'Standard', { name: 'Supply', end: true }, { name: 'Address', wide: true }]}
              rows={pages.shown(tokens).map((token) => ({
                key: token.address,
                cells: [
                  <a key="link" href={linkTo('address', token.address, { tab: 'token' })}>
                    {tokenText(token)}
                  </a>,
                  STANDARDS[token.type],
                  token.totalSupply === null ? '' : amountText(token.totalSupply, token),
                  <Mono key="address">{token.address}</Mono>,
                ],
              }))}
            />
            <Pager label="tokens" {...pages.steps(tokens)} />
          </>
        )}
      </Show>
    </Section>
  )
}

const KINDS = [
  ['function', 'Functions'],
  ['event', 'Events'],
  ['error', 'Errors'],
] as const

function Entries({ abi }: { readonly abi: readonly AbiEntry[] }) {
  return (
    <>
      {KINDS.map(([kind, title]) => {
        const entries = abi.filter(({ type }) => type === kind)
        return (
          entries.length > 0 && (
            <Section key={kind} title={title}>
              <Table
                label={title}
                columns={['Signature', kind === 'event' ? { name: 'Topic', wide: true } : 'Selector']}
                rows={entries.map(({ signature = '', selector = '0x', stateMutability }) => ({
                  key: signature,
                  cells: [
                    <span key="signature" class="wrap">
                      {signature}{' '}
                      {stateMutability !== undefined && <span class="dim">{stateMutability}</span>}
                    </span>,
                    <code key="selector" class="wrap">
                      {selector}
                    </code>,
                  ],
                }))}
              />
            </Section>
          )
        )
      })}
    </>
  )
}

function NamedContract({ name }: { readonly name: string }) {
  const contract = useQuery(`${name} ${may('evm_contractAbi')}`, (signal) => loadAbi(name, signal), 'live')
  return (
    <>
      <Heading title={name} />
      <Show loaded={contract}>
        {(known) =>
          known === null ? (
            <ErrorText message="The node knows no contract of this name" />
          ) : (
            <Entries abi={known.abi} />
          )
        }
      </Show>
    </>
  )
}

/** The page. */
export function ContractsPage({ argument }: { readonly argument: string }) {
  if (argument !== '') return <NamedContract key={argument} name={argument} />
  return (
    <>
      <Heading title="Contracts" />
      <KnownContracts />
      {may('eth_getHeaderByNumber') && may('eth_getBlockReceipts') && <NewContracts />}
      {may('evm_tokens') && <Tokens />}
    </>
  )
}
