import { describe, expect, it } from 'vitest'
import { changelog, commonVersion, manifestIn, packageFolders } from '../../scripts/release.ts'

describe('a release', () => {
  it('has a changelog by area', () => {
    const subjects = ['evm: add an opcode', 'cli, docs: name it', 'evm, state: mend it', 'Merge something']
    expect(changelog(subjects)).toBe(
      '### cli\n\n- name it\n\n### evm\n\n- add an opcode\n- mend it\n\n### other\n\n- Merge something',
    )
  })

  it('has one version in all packages', () => {
    const manifests = packageFolders(process.cwd()).map(manifestIn)
    expect(manifests.map(({ name }) => name)).toEqual([
      'tandem',
      'hardhat-tandem',
      'tandem-predeploys',
      'testcontainers-tandem',
    ])
    const version = commonVersion(manifests)
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    const other = { name: 'other', version: '9.9.9' }
    expect(() => commonVersion([...manifests, other])).toThrow('other has version 9.9.9')
    const needing = { name: 'needing', version, peerDependencies: { tandem: '^9.0.0' } }
    expect(() => commonVersion([...manifests, needing])).toThrow('needing needs tandem ^9.0.0')
  })
})
