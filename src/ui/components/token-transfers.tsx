/** Transfers of tokens, the newest first: of an account, or of one token. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Hex, toBigInt } from '../format.ts'
import { useQuery } from '../query.ts'
import {
  amountText,
  loadTransfers,
  type Token,
  type TokenTransfer,
  type TransferPlace,
  tokenIdText,
  tokenText,
} from '../tokens.ts'
import { Section, Show, Table } from './layout.tsx'
import { Pager } from './pager.tsx'
import { AddressLink, Age, BlockLink, TransactionLink } from './values.tsx'

/** An account that no one holds: mints come from it, burns go to it. */
const isNobody = (address: Hex): boolean => toBigInt(address) === 0n

function PartyLink({ address, nobody }: { readonly address: Hex; readonly nobody: string }) {
  return isNobody(address) ? <span class="dim">{nobody}</span> : <AddressLink address={address} digits={4} />
}

function TokenAmount({
  transfer,
  token,
}: {
  readonly transfer: TokenTransfer
  readonly token: Token | undefined
}) {
  const { amount, tokenId } = transfer
  return (
    <span class="wrap">
      {amount !== null && `${amountText(amount, token)} `}
      {token !== undefined && (
        <span class="dim">
          {tokenText(token)}
          {tokenId !== null && ' '}
        </span>
      )}
      {tokenId !== null && tokenIdText(tokenId)}
    </span>
  )
}

/** The section; one of `account` and `token` is given. */
export function TokenTransfers(props: { readonly account?: Hex; readonly token?: Hex }) {
  const { account, token } = props
  const [places, setPlaces] = useState<readonly TransferPlace[]>([])
  useEffect(() => setPlaces([]), [account, token])
  const before = places.at(-1)
  const page = useQuery(
    `transfers ${account} ${token} ${before?.blockNumber} ${before?.logIndex}`,
    (signal) => loadTransfers({ ...props, before }, signal),
    places.length === 0 ? 'live' : 'settled',
  )
  function cellsOf(transfer: TokenTransfer, tokens: ReadonlyMap<Hex, Token>): ComponentChildren[] {
    const { transactionHash, blockNumber, timestamp, from, to } = transfer
    const way = account === undefined || from === to ? undefined : from === account ? 'out' : 'in'
    return [
      <TransactionLink key="hash" hash={transactionHash} digits={4} />,
      <BlockLink key="block" block={blockNumber} />,
      timestamp === null ? '' : <Age key="age" seconds={timestamp} />,
      <span key="from">
        {way !== undefined && <span class={way === 'in' ? 'badge good' : 'badge'}>{way}</span>}{' '}
        <PartyLink address={from} nobody="minted" />
      </span>,
      <PartyLink key="to" address={to} nobody="burnt" />,
      <TokenAmount key="amount" transfer={transfer} token={tokens.get(transfer.token)} />,
      token === undefined && <AddressLink key="token" address={transfer.token} digits={4} />,
    ]
  }
  return (
    <Section title="Token transfers">
      <Show loaded={page}>
        {({ transfers, tokens, next }) => {
          const byAddress = new Map(tokens.map((each) => [each.address, each]))
          return (
            <>
              <Table
                label="Token transfers"
                columns={[
                  'Hash',
                  { name: 'Block', wide: true },
                  { name: 'Age', wide: true },
                  'From',
                  'To',
                  { name: 'Amount', end: true },
                  token === undefined && { name: 'Token', wide: true },
                ]}
                rows={transfers.map((each, i) => ({
                  key: `${each.blockNumber} ${each.logIndex} ${i}`,
                  cells: cellsOf(each, byAddress),
                }))}
              />
              <Pager
                label="token transfers"
                newer={places.length > 0 ? () => setPlaces(places.slice(0, -1)) : undefined}
                older={next === null ? undefined : () => setPlaces([...places, next])}
              />
            </>
          )
        }}
      </Show>
    </Section>
  )
}
