/** Forms of methods by their schemas. */
import { describe, expect, it } from 'vitest'
import { fieldsOf, parametersOf } from '../../src/ui/schema-fields.ts'

const document = {
  methods: [],
  components: { schemas: { Address: { type: 'string', description: '20 bytes' } } },
}
const method = {
  name: 'm',
  params: [
    { name: 'address', required: true, schema: { $ref: '#/components/schemas/Address' } },
    { name: 'full', schema: { anyOf: [{ enum: [true, false, 'true', 'false'] }, { type: 'number' }] } },
    { name: 'kind', schema: { enum: ['newHeads', 'logs'] } },
    { name: 'count', schema: { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] } },
    { name: 'call', schema: { type: 'object' } },
  ],
}
const fields = fieldsOf(method, document)

describe('the fields of a method', () => {
  it('are choices, text or JSON, depending on the schema', () => {
    expect(
      fields.map(({ name, kind, choices, isRequired, hint }) => [name, kind, choices, isRequired, hint]),
    ).toEqual([
      ['address', 'text', [], true, '20 bytes'],
      ['full', 'choice', ['true', 'false'], false, 'any or number'],
      ['kind', 'choice', ['newHeads', 'logs'], false, 'any'],
      ['count', 'text', [], false, 'integer or string or null'],
      ['call', 'json', [], false, 'object'],
    ])
  })

  it.each<[string[], unknown[]]>([
    [['0x12'], ['0x12']],
    [
      ['12', 'true', 'logs', '12', '{"to": null}'],
      ['12', true, 'logs', 12, { to: null }],
    ],
    [
      ['" a"', '', '', '0x5'],
      [' a', null, null, '0x5'],
    ],
    [
      ['a', '', '', 'null', 'latest'],
      ['a', null, null, null, 'latest'],
    ],
  ])('%j are the parameters %j', (texts, parameters) => {
    expect(parametersOf(fields, texts)).toEqual(parameters)
  })

  it('refuse missing values and invalid JSON', () => {
    expect(() => parametersOf(fields, ['', 'true'])).toThrow(new Error('address is missing'))
    expect(() => parametersOf(fields, ['a', '', '', '', '{to}'])).toThrow(new Error('call: this is not JSON'))
  })
})
