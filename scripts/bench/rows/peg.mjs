/** Rows of the two-way peg with a Bitcoin chain in the node: coins in and out, with the blocks of both chains that it takes. */
const NODES = ['tandem-btc']
const SATOSHI = 1_000_000
const PEG_INS = 20
const PEG_OUTS = 5
/** Satoshi that peg-outs are paid from. */
const LOCKED = 50_000_000

const account = ({ client }) => client.call('eth_accounts').then(([first]) => first)

/** Lets coins move a number of times, one after another. Throws when one does not arrive. */
async function move({ client }, { method, of, satoshi, times, wanted }) {
  for (let i = 0; i < times; i++) {
    const { status, reason } = await client.call(method, [of, satoshi])
    if (status !== wanted) throw new Error(`${method}: ${status}, ${reason}`)
  }
}

async function pegIn(scene, satoshi = SATOSHI, times = 1) {
  const of = await account(scene)
  return () => move(scene, { method: 'btc_pegIn', of, satoshi, times, wanted: 'registered' })
}

const incoming = {
  name: 'peg-in',
  title:
    'btc_pegIn: a Bitcoin transaction to the federation, three Bitcoin blocks, and the block in which it is registered',
  operation: 'peg-in',
  chain: 'fresh',
  nodes: NODES,
  async prepare(scene) {
    await (await pegIn(scene))()
  },
  async sample(scene) {
    return { operations: PEG_INS, work: await pegIn(scene, SATOSHI, PEG_INS) }
  },
}

const outgoing = {
  name: 'peg-out',
  title:
    'btc_pegOut: the request, the blocks until its batch is made (at most 50), confirmed, signed and broadcast, and its change back at the Bridge',
  operation: 'peg-out',
  chain: 'fresh',
  nodes: NODES,
  async prepare(scene) {
    await (await pegIn(scene, LOCKED))()
  },
  async sample(scene) {
    const of = await account(scene)
    const moved = { method: 'btc_pegOut', of, satoshi: SATOSHI, times: PEG_OUTS, wanted: 'released' }
    return { operations: PEG_OUTS, work: () => move(scene, moved) }
  },
}

export const PEG_ROWS = [incoming, outgoing]
