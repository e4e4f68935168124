/** The names of methods, and what their namespaces have in common. */

/** A method, as far as permissions and limits know it. */
export interface MethodNames {
  readonly name: string
  /** Other names under which it is found; the document and the sessions know it by `name` alone. */
  readonly aliases: readonly string[]
  /** A key permits it only by naming the method: naming its namespace is not enough. */
  readonly isGuarded?: boolean
  /** Every key permits it, unless its list closes the method or its namespace. */
  readonly isForEveryKey?: boolean
}

/** The part of a method name that names its group. */
export function namespaceOf(name: string): string {
  return /^[^_.]*/.exec(name)?.[0] ?? name
}

/** All names of a method, its own first. */
export function namesOf({ name, aliases }: MethodNames): readonly string[] {
  return [name, ...aliases]
}

/**
 * Which node of a cluster answers a call: `each` the one that is asked, unless the call names the pending block, which only
 * the leader knows; `leader` always the leader; `owner` the node that holds the filter; `self` always the one that is
 * asked; `holder` the one that is asked, and only while it leads: the call or its answer has keys or passphrases in it,
 * which are never passed from one node to another.
 */
export type Answerer = 'each' | 'leader' | 'owner' | 'self' | 'holder'

interface NamespaceRules {
  /** Its methods change the chain, its clock, its keys or its peers, or cost far more than a call: a key opens them only by naming them. */
  readonly guarded?: true
  /** The caller determines the cost of its methods, so the number that runs at once is limited. */
  readonly heavy?: true
  /** Which node of a cluster answers; by what the method does unless given. */
  readonly answeredBy?: Answerer
  /** Its methods take blocks, and no other parameter of theirs is one of the tags of blocks. */
  readonly takesBlocks?: true
  /** Its methods are open only on a node with a Bitcoin chain. */
  readonly needsBitcoin?: true
}

/** Every namespace, own names and aliases. */
const NAMESPACES: Readonly<Record<string, NamespaceRules>> = {
  web3: {},
  net: {},
  rpc: {},
  eth: { takesBlocks: true },
  ext: {},
  rsk: {},
  trace: { heavy: true, takesBlocks: true },
  ots: { takesBlocks: true },
  erigon: { takesBlocks: true },
  debug: { heavy: true, guarded: true, takesBlocks: true },
  txpool: { guarded: true, answeredBy: 'leader' },
  // Scores and bans belong to the node whose callers they are about.
  sco: { guarded: true, answeredBy: 'self' },
  mnr: { guarded: true, answeredBy: 'leader' },
  btc: { guarded: true, answeredBy: 'leader', needsBitcoin: true },
  fed: { guarded: true, answeredBy: 'leader', needsBitcoin: true },
  personal: { guarded: true, answeredBy: 'holder' },
  wallet: {},
  evm: { guarded: true, answeredBy: 'leader' },
  hardhat: { guarded: true, answeredBy: 'leader' },
  anvil: { guarded: true, answeredBy: 'leader' },
  tenderly: { guarded: true, takesBlocks: true },
  alchemy: { heavy: true, takesBlocks: true },
  miner: { guarded: true, answeredBy: 'leader' },
}

/** The names of which a key's list has to contain one to open this method; empty where it need not name it. */
export function guardsOf(method: MethodNames): readonly string[] {
  const names = namesOf(method)
  if (method.isGuarded === true) return names
  return names.flatMap((name) => {
    const namespace = namespaceOf(name)
    return namespaceRules(namespace).guarded === true ? [name, namespace] : []
  })
}

/** What holds for the methods of a namespace; one without a row is guarded. */
export function namespaceRules(namespace: string): NamespaceRules {
  return (Object.hasOwn(NAMESPACES, namespace) && NAMESPACES[namespace]) || { guarded: true }
}
