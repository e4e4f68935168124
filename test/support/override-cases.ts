/** Calls with state and block overrides, and their results; the words follow from the code that runs. */

/** A call with overrides. */
export interface OverrideCase {
  readonly name: string
  /** Its receiver is `CALLED` unless given. */
  readonly call?: {
    readonly from?: string
    readonly to?: string
    readonly data?: string
    readonly value?: string
  }
  readonly stateOverrides: object
  readonly blockOverrides?: object
  readonly output: string
  /** Why the result of Anvil differs. */
  readonly otherInAnvil?: string
}

/** The receiver of the calls; it has no code outside of them. */
export const CALLED = '0x00000000000000000000000000000000000dead1'
const OTHER = '0x00000000000000000000000000000000000dead2'
const IDENTITY = '0x0000000000000000000000000000000000000004'
const HASH = `0x${'12'.repeat(32)}`

/** 32 bytes that hold a number. */
export const word = (value: bigint | number | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
/** Code that returns the word which the opcodes push. */
export const returning = (opcodes: string) => `0x${opcodes}60005260206000f3`
/** The same in an override of `CALLED`, with other members. */
const code = (opcodes: string, members: object = {}) => ({
  [CALLED]: { code: returning(opcodes), ...members },
})
const bare = (address: string) => address.slice(2)

const STATE: readonly OverrideCase[] = [
  { name: 'code', stateOverrides: code('602a'), output: word(42) },
  { name: 'balance', stateOverrides: code('47', { balance: '0x2a' }), output: word(42) },
  {
    name: 'balance of another account',
    stateOverrides: { ...code(`73${bare(OTHER)}31`), [OTHER]: { balance: '0x2a' } },
    output: word(42),
  },
  {
    // CREATE, then the address: keccak256(rlp([CALLED, 7])), by ethers' getCreateAddress.
    name: 'nonce',
    stateOverrides: code('5f5f5ff0', { nonce: '0x7' }),
    output: word('0x4e72d41fffa4920caef857c80bd35cd49f2277fb'),
  },
  {
    name: 'all storage',
    stateOverrides: code('60015460025401', { state: { [word(2)]: word(5) } }),
    output: word(5),
  },
  {
    name: 'one slot',
    stateOverrides: code('60015460025401', { stateDiff: { [word(1)]: word(5) } }),
    output: word(5),
  },
  {
    name: 'code of an account that another calls',
    // STATICCALL to the other account, then its word.
    stateOverrides: {
      ...code(`60205f5f5f73${bare(OTHER)}5afa505f51`),
      [OTHER]: { code: returning('602a') },
    },
    output: word(42),
  },
  {
    name: 'an override that a call takes back',
    // SSTORE in the call itself, then SLOAD.
    stateOverrides: code('600760015560015460025401', { stateDiff: { [word(1)]: word(5) } }),
    output: word(7),
  },
  { name: 'an empty override', stateOverrides: { [CALLED]: {} }, output: '0x' },
]

const BLOCK: readonly OverrideCase[] = [
  { name: 'number', stateOverrides: code('43'), blockOverrides: { number: '0x64' }, output: word(100) },
  { name: 'time', stateOverrides: code('42'), blockOverrides: { time: '0x64' }, output: word(100) },
  { name: 'timestamp', stateOverrides: code('42'), blockOverrides: { timestamp: '0x64' }, output: word(100) },
  {
    name: 'gasLimit',
    stateOverrides: code('45'),
    blockOverrides: { gasLimit: '0x1000000' },
    output: word(0x1000000),
  },
  {
    name: 'feeRecipient',
    stateOverrides: code('41'),
    blockOverrides: { feeRecipient: OTHER },
    output: word(OTHER),
  },
  { name: 'coinbase', stateOverrides: code('41'), blockOverrides: { coinbase: OTHER }, output: word(OTHER) },
  { name: 'prevRandao', stateOverrides: code('44'), blockOverrides: { prevRandao: HASH }, output: HASH },
  { name: 'random', stateOverrides: code('44'), blockOverrides: { random: HASH }, output: HASH },
  {
    name: 'difficulty',
    stateOverrides: code('44'),
    blockOverrides: { difficulty: '0x5' },
    output: word(5),
    otherInAnvil: 'after the merge the opcode 0x44 answers prevRandao',
  },
  {
    name: 'baseFeePerGas',
    stateOverrides: code('48'),
    blockOverrides: { baseFeePerGas: '0x0' },
    output: word(0),
  },
  { name: 'baseFee', stateOverrides: code('48'), blockOverrides: { baseFee: '0x0' }, output: word(0) },
  {
    name: 'blockHash',
    stateOverrides: code('600240'),
    blockOverrides: { number: '0x5', blockHash: { 2: HASH } },
    output: HASH,
  },
  {
    name: 'the hash of a block that is out of reach',
    stateOverrides: code('600240'),
    blockOverrides: { number: '0x5000', blockHash: { 2: HASH } },
    output: word(0),
  },
  {
    name: 'several fields',
    stateOverrides: code('434201450141014401'),
    blockOverrides: {
      number: '0x1',
      time: '0x2',
      gasLimit: '0x1000000',
      feeRecipient: word(4).replace(/^0x0{24}/, '0x'),
      prevRandao: word(5),
    },
    output: word(1 + 2 + 0x1000000 + 4 + 5),
  },
]

const MOVED: readonly OverrideCase[] = [
  {
    name: 'a precompiled contract at another address',
    call: { to: OTHER, data: '0x1234' },
    stateOverrides: { [IDENTITY]: { movePrecompileToAddress: OTHER } },
    output: '0x1234',
    otherInAnvil: 'it ignores movePrecompileToAddress',
  },
  {
    name: 'code in place of a precompiled contract that was moved',
    call: { to: IDENTITY, data: '0x1234' },
    stateOverrides: { [IDENTITY]: { movePrecompileToAddress: OTHER, code: returning('602a') } },
    output: word(42),
    otherInAnvil: 'it ignores movePrecompileToAddress',
  },
]

/** All of them. */
export const OVERRIDE_CASES: readonly OverrideCase[] = [...STATE, ...BLOCK, ...MOVED]

/** Overrides that every node refuses with -32602. */
export const REFUSED_OVERRIDES: readonly {
  readonly name: string
  readonly stateOverrides: unknown
  readonly blockOverrides?: unknown
}[] = [
  { name: 'state and stateDiff', stateOverrides: { [CALLED]: { state: {}, stateDiff: {} } } },
  { name: 'a balance without digits', stateOverrides: { [CALLED]: { balance: 'zz' } } },
  { name: 'a nonce out of range', stateOverrides: { [CALLED]: { nonce: '0xffffffffffffffffff' } } },
  { name: 'code without digits', stateOverrides: { [CALLED]: { code: 'zz' } } },
  { name: 'a short address', stateOverrides: { '0x12': {} } },
  { name: 'a list', stateOverrides: [] },
  { name: 'a storage that is no object', stateOverrides: { [CALLED]: { state: [] } } },
  { name: 'a slot without digits', stateOverrides: { [CALLED]: { stateDiff: { zz: word(1) } } } },
  { name: 'a number without digits', stateOverrides: {}, blockOverrides: { number: 'zz' } },
  { name: 'a time without digits', stateOverrides: {}, blockOverrides: { time: {} } },
  { name: 'a short fee recipient', stateOverrides: {}, blockOverrides: { feeRecipient: '0x12' } },
  { name: 'a block hash without a height', stateOverrides: {}, blockOverrides: { blockHash: { zz: HASH } } },
  { name: 'a short block hash', stateOverrides: {}, blockOverrides: { blockHash: { 2: '0x12' } } },
  { name: 'two names of a field', stateOverrides: {}, blockOverrides: { time: '0x1', timestamp: '0x1' } },
]
