// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Counter} from "../src/Counter.sol";
import {vm} from "../src/Vm.sol";

/// Runs in Foundry's EVM over the state of a node: a counter at 5, made in an earlier block.
contract ForkTest {
    Counter private counter;

    function setUp() external {
        counter = Counter(vm.envAddress("COUNTER"));
    }

    function test_isOnTheChain() external view {
        require(block.chainid == 33, "chain id");
        require(block.number == vm_number(), "number");
    }

    function test_readsStorage() external view {
        require(counter.value() == 5, "value");
    }

    function test_writesOnTopOfIt() external {
        counter.increase(3);
        require(counter.value() == 8, "value");
    }

    function test_seesBalances() external {
        address sender = vm.addr(vm.envUint("KEY"));
        require(sender.balance > 9_000 ether, "balance");
        vm.deal(address(this), 3);
        vm.prank(address(this));
        counter.increase{value: 3}(1);
        require(address(counter).balance == 3, "counter");
    }

    function test_reverts() external {
        vm.expectRevert(abi.encodeWithSelector(Counter.TooMuch.selector, 101));
        counter.increase(101);
    }

    function test_goesBackToABlock() external {
        vm.rollFork(vm.envUint("CREATED_IN"));
        require(counter.value() == 4, "value");
    }

    function vm_number() private view returns (uint256 number) {
        (bool ok, bytes memory data) =
            address(vm).staticcall(abi.encodeWithSignature("envUint(string)", "HEAD"));
        require(ok);
        number = abi.decode(data, (uint256));
    }
}
