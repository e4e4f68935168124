const { expect } = require('chai')
const { ethers } = require('hardhat')
const { loadFixture } = require('@nomicfoundation/hardhat-network-helpers')

const FIRST_PRECOMPILE = '0x0000000000000000000000000000000000000001'

async function deployFactory() {
  return { factory: await ethers.deployContract('Factory') }
}

describe('a factory', () => {
  it('creates at the address of CREATE2', async () => {
    const { factory } = await loadFixture(deployFactory)
    const { bytecode, interface: face } = await ethers.getContractFactory('Child')
    const init = ethers.concat([bytecode, face.encodeDeploy([5n])])
    const salt = ethers.id('child')
    const child = ethers.getCreate2Address(await factory.getAddress(), salt, ethers.keccak256(init))
    await expect(factory.create2(salt, 5n)).to.emit(factory, 'Created').withArgs(child)
    expect(await (await ethers.getContractAt('Child', child)).value()).to.equal(5n)
    await expect(factory.create2(salt, 5n)).to.be.reverted
  })

  it('clones', async () => {
    const { factory } = await loadFixture(deployFactory)
    const child = await ethers.deployContract('Child', [1n])
    const clone = await factory.predictClone(child, ethers.ZeroHash)
    await expect(factory.clone(child, ethers.ZeroHash)).to.emit(factory, 'Created').withArgs(clone)
    const contract = await ethers.getContractAt('Child', clone)
    await contract.set(9n)
    expect([await contract.value(), await child.value()]).to.deep.equal([9n, 1n])
  })

  it('passes the failure of a creation on', async () => {
    const { factory } = await loadFixture(deployFactory)
    await expect(factory.create2(ethers.ZeroHash, 0n)).to.be.reverted
    const { interface: face } = await ethers.getContractFactory('Child')
    await expect(ethers.deployContract('Child', [0n]))
      .to.be.revertedWithCustomError({ interface: face }, 'Unwanted')
      .withArgs(7n)
  })
})

describe('by the rules of Ethereum', () => {
  it('a contract has nonce 1 when it is created', async () => {
    const { factory } = await loadFixture(deployFactory)
    expect(await ethers.provider.getTransactionCount(factory)).to.equal(1)
  })

  it('the first contract of a factory has the address of nonce 1', async () => {
    const { factory } = await loadFixture(deployFactory)
    const from = await factory.getAddress()
    await expect(factory.create(5n))
      .to.emit(factory, 'Created')
      .withArgs(ethers.getCreateAddress({ from, nonce: 1 }))
  })

  it('a reverted CREATE leaves its return data', async () => {
    const { factory } = await loadFixture(deployFactory)
    const { interface: face } = await ethers.getContractFactory('Child')
    expect(await factory.returnDataOfFailedCreate.staticCall()).to.equal(
      face.encodeErrorResult('Unwanted', [7n]),
    )
    await expect(factory.create(0n)).to.be.revertedWithCustomError({ interface: face }, 'Unwanted')
  })

  it('a precompiled contract has no code', async () => {
    const { factory } = await loadFixture(deployFactory)
    expect(await factory.codeSize(FIRST_PRECOMPILE)).to.equal(0n)
  })

  it('a call passes on 63 of 64 parts of the gas', async () => {
    const { factory } = await loadFixture(deployFactory)
    expect(await factory.gasPassedOn({ gasLimit: 5_000_000n })).to.equal(63n)
  })
})
