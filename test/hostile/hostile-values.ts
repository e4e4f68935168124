/** Values that no parameter expects, and ways to put them where others stand. */

const LONG = 'f'.repeat(20_000)

/** JSON values of every kind, at the edges of what the kinds can be. */
export const HOSTILE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e21,
  1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '0x',
  '0X1',
  '0x0',
  '-0x1',
  '0x-1',
  '0x1.8',
  '0xg',
  '0x١',
  'NaN',
  'Infinity',
  'undefined',
  'null',
  'LATEST',
  'finalized',
  'pending',
  `0x${'f'.repeat(16)}`,
  `0x${'0'.repeat(40)}`,
  `0x${'f'.repeat(64)}`,
  `0x${'f'.repeat(65)}`,
  `0x${LONG}`,
  '9'.repeat(400),
  LONG,
  '\u0000',
  '0x00\u0000',
  '\ud800',
  '\u202e0x0',
  '😀'.repeat(40),
  '%s%n%x{{1}}',
  "'; DROP TABLE blocks; --",
  '../../../etc/shadow',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  [],
  [null],
  [[]],
  [[[['0x']]]],
  ['latest', 'latest'],
  new Array(500).fill('0x0'),
  {},
  { length: 4_294_967_295 },
  { length: -1, 0: '0x' },
  { toString: 'no', valueOf: null, toJSON: 1 },
  JSON.parse('{"then":1,"constructor":{"name":"x"}}'),
  { blockHash: null, blockNumber: null },
  { blockHash: {}, blockNumber: [] },
  { requireCanonical: 'perhaps' },
  { from: {}, to: [], gas: true, data: 7 },
]

type Json = { readonly [key: string]: unknown }

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value with a hostile one in place of each of its members and items, at every depth, and of itself. */
export function* spoiled(value: unknown, hostile: unknown): Generator<unknown> {
  yield hostile
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      for (const worse of spoiled(value[i], hostile)) yield value.with(i, worse)
    }
  } else if (isJson(value)) {
    for (const key of Object.keys(value)) {
      for (const worse of spoiled(value[key], hostile)) yield { ...value, [key]: worse }
    }
  }
}

/** Keys that mean something to JavaScript. */
export const POLLUTING = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
] as const

/** JSON text of a value in which every object has polluting members, beside its own or in place of them. */
export function polluted(value: unknown, key: string, member: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => polluted(item, key, member)).join(',')}]`
  if (!isJson(value)) return JSON.stringify(value)
  const own = Object.entries(value).map(([name, item]) => [name, polluted(item, key, member)] as const)
  const all = [...own, [key, JSON.stringify(member)] as const]
  return `{${all.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}
