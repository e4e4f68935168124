/** The contracts whose code a contract runs on its own storage: the implementation of a proxy, the facets of a diamond. */
import type { Hex } from '../../encoding/hex.ts'
import { codeAt, codeChain, FACET_ADDRESSES, facetsIn } from '../../execution/proxies.ts'
import type { BlockReference } from '../model.ts'
import { askContract } from './ask-contract.ts'
import { type PlaceParts, simulationPlace } from './simulation-place.ts'

/** Gas of `facetAddresses()`, which reads a list in storage. */
const FACETS_GAS = 1_000_000n

/** Reads of proxies. */
export interface ProxyQueries {
  /**
   * The contracts behind a contract: the last implementation of a proxy (ERC-1967, ERC-1167), or the facets of a diamond
   * (EIP-2535) as it names them; empty for others. Throws `block-not-found`.
   */
  implementations(address: Hex, reference?: BlockReference): Promise<readonly Hex[]>
}

/** The proxies of a chain. */
export class ChainProxies implements ProxyQueries {
  readonly #parts: PlaceParts

  constructor(parts: PlaceParts) {
    this.#parts = parts
  }

  async implementations(
    address: Hex,
    reference: BlockReference = { tag: 'latest' },
  ): Promise<readonly Hex[]> {
    const place = await simulationPlace(this.#parts, reference, {})
    const chain = codeChain(place.state, address)
    const last = chain.at(-1)
    if (chain.length > 1 && last !== undefined) return [last]
    if (codeAt(place.state, address) === undefined) return []
    const question = { to: address, data: FACET_ADDRESSES, gas: FACETS_GAS }
    const facets = facetsIn(await askContract(this.#parts.vm, place, question))
    return facets.filter((facet) => facet !== address && codeAt(place.state, facet) !== undefined)
  }
}
