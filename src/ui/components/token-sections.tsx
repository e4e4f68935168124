/** What a token contract tells of itself, and who holds its tokens. */
import { counted, grouped, type Hex, percent, toBigInt } from '../format.ts'
import type { Moment } from '../moment.ts'
import { useQuery } from '../query.ts'
import { may } from '../store.ts'
import { amountText, loadHolders, STANDARDS, shortText, type Token, tokenIdText } from '../tokens.ts'
import { Fields, Section, Show, Table } from './layout.tsx'
import { Pager, usePages } from './pager.tsx'
import { TokenTransfers } from './token-transfers.tsx'
import { AddressLink } from './values.tsx'

function Supply({ token }: { readonly token: Token }) {
  const { totalSupply, symbol } = token
  if (totalSupply === null) return <span class="dim">the contract does not tell</span>
  return (
    <span title={`${grouped(toBigInt(totalSupply))} units`}>
      {amountText(totalSupply, token)} <span class="dim">{shortText(symbol ?? '')}</span>
    </span>
  )
}

interface Properties {
  readonly token: Token
  /** When holders are asked for; the present where it is undefined. */
  readonly moment: Moment | undefined
}

function HolderTable({ token, moment }: Properties) {
  const { address, type, totalSupply } = token
  const key = `${address} ${moment?.block} ${moment?.transactions}`
  const loaded = useQuery(`holders ${key}`, (signal) => loadHolders(address, moment, signal), 'live')
  const pages = usePages(key)
  const supply = type === 'erc20' && totalSupply !== null ? toBigInt(totalSupply) : 0n
  return (
    <Section title="Holders">
      <Show loaded={loaded}>
        {(found) => {
          const { holders, isComplete } = found ?? { holders: [], isComplete: true }
          return (
            <>
              <p class="dim empty">
                {counted(holders.length, 'balance')}
                {!isComplete && ' or more: the receivers of the newest transfers were asked for'}
              </p>
              <Table
                label="Holders"
                columns={[
                  'Account',
                  type === 'erc1155' && 'Id',
                  { name: type === 'erc721' ? 'Tokens' : 'Balance', end: true },
                  supply > 0n && { name: 'Share', end: true },
                ]}
                rows={pages.shown(holders).map(({ account, tokenId, balance }) => ({
                  key: `${account} ${tokenId}`,
                  cells: [
                    <AddressLink key="account" address={account} />,
                    tokenId !== null && tokenIdText(tokenId),
                    amountText(balance, token),
                    percent(toBigInt(balance), supply),
                  ],
                }))}
              />
              <Pager label="holders" names={['Larger', 'Smaller']} {...pages.steps(holders)} />
            </>
          )
        }}
      </Show>
    </Section>
  )
}

/** The tab of a token. */
export function TokenSections({ token, moment }: Properties) {
  const { name, symbol, type, decimals, address } = token
  return (
    <>
      <Section title="Token">
        <Fields
          rows={[
            ['Name', name === null ? undefined : shortText(name)],
            ['Symbol', symbol === null ? undefined : shortText(symbol)],
            ['Standard', STANDARDS[type]],
            ['Decimals', decimals ?? undefined],
            ['Supply', <Supply key="supply" token={token} />],
          ]}
        />
      </Section>
      {may('evm_tokenHolders') && <HolderTable token={token} moment={moment} />}
      {may('evm_tokenTransfers') && <TokenTransfers token={address satisfies Hex} />}
    </>
  )
}
