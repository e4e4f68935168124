const { expect } = require('chai')
const { ethers, ignition } = require('hardhat')
const Market = require('../ignition/modules/market.cjs')

describe('Hardhat Ignition', () => {
  it('deploys a module: contracts, calls, reads and events in order', async () => {
    const { token, badge, vault } = await ignition.deploy(Market, { parameters: { Market: { supply: 40n } } })
    const [owner, minter] = await ethers.getSigners()
    expect(await token.balanceOf(owner)).to.equal(33n)
    expect(await token.balanceOf(vault)).to.equal(7n)
    expect(await token.balanceOf(minter)).to.equal(7n)
    expect(await badge.ownerOf(1n)).to.equal(minter)
    expect(await ethers.provider.getBalance(vault)).to.equal(5n)
  })
})
