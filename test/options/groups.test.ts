import { expect, it } from 'vitest'
import { SETTINGS } from '../../src/cli/settings.ts'
import { OPTION_GROUPS } from '../../src/options/groups.ts'

it('the help has each setting in one group', () => {
  const grouped = OPTION_GROUPS.flatMap(({ keys }) => keys)
  expect(grouped.toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
})
