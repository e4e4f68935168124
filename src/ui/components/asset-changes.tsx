/** Transfers and approvals of coins and tokens. */
import { grouped, toBigInt, units } from '../format.ts'
import type { AssetChange } from '../simulation/outcome.ts'
import { Table } from './layout.tsx'
import { AddressLink, Amount } from './values.tsx'

/** Rows of the table; the others are only counted. */
const MOST_ROWS = 200
/** Characters of a symbol, which a contract may choose freely. */
const MOST_SYMBOL = 24
/** More decimals are not those of an amount. */
const MOST_DECIMALS = 255
const UNLIMITED = 2n ** 256n - 1n
const NOBODY = /^0x0{40}$/

const KINDS: Readonly<Record<AssetChange['type'], string>> = {
  native: 'coins',
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}

function changeText({ change, from, to, approved }: AssetChange): string {
  if (change === 'approve') return approved === false ? 'Approval revoked' : 'Approval'
  if (NOBODY.test(from)) return 'Mint'
  return NOBODY.test(to) ? 'Burn' : 'Transfer'
}

function symbolText({ symbol, name, type }: AssetChange): string {
  const text = symbol ?? name ?? KINDS[type]
  return text.length > MOST_SYMBOL ? `${text.slice(0, MOST_SYMBOL)}…` : text
}

/** How much of what: `250 TDM`, `#7 of ART`. */
function AssetAmount({ asset }: { readonly asset: AssetChange }) {
  const { type, change, amount, tokenId, approved, decimals = 0 } = asset
  if (type === 'native') return <Amount wei={amount ?? 0n} digits={18} />
  const wanted = toBigInt(amount)
  const isUnlimited = change === 'approve' && wanted === UNLIMITED
  const number = isUnlimited
    ? 'unlimited'
    : units(wanted, Number.isInteger(decimals) && decimals >= 0 && decimals <= MOST_DECIMALS ? decimals : 0)
  return (
    <span class="wrap">
      {amount !== undefined && `${number} `}
      {approved !== undefined && 'all '}
      <span class="dim">{symbolText(asset)}</span>
      {tokenId !== undefined && ` #${grouped(toBigInt(tokenId))}`}
    </span>
  )
}

/** The table. */
export function AssetChanges({ assets }: { readonly assets: readonly AssetChange[] }) {
  return (
    <>
      <Table
        label="Asset changes"
        stacked
        empty="No transfers and approvals"
        columns={['Change', 'From', 'To', { name: 'Token', wide: true }, { name: 'Amount', end: true }]}
        rows={assets.slice(0, MOST_ROWS).map((asset, i) => ({
          key: i,
          cells: [
            changeText(asset),
            <AddressLink key="from" address={asset.from} />,
            <AddressLink key="to" address={asset.to} />,
            asset.token === undefined ? (
              <span key="token" class="dim">
                the chain's coin
              </span>
            ) : (
              <AddressLink key="token" address={asset.token} />
            ),
            <AssetAmount key="amount" asset={asset} />,
          ],
        }))}
      />
      {assets.length > MOST_ROWS && <p class="dim">{grouped(assets.length - MOST_ROWS)} more changes</p>}
    </>
  )
}
