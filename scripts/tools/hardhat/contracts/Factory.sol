// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";

contract Child {
    error Unwanted(uint256 code);

    uint256 public value;

    constructor(uint256 value_) {
        if (value_ == 0) revert Unwanted(7);
        value = value_;
    }

    function set(uint256 value_) external {
        value = value_;
    }
}

contract Factory {
    event Created(address child);

    function create(uint256 value) external returns (address child) {
        child = address(new Child(value));
        emit Created(child);
    }

    function create2(bytes32 salt, uint256 value) external {
        emit Created(address(new Child{salt: salt}(value)));
    }

    function clone(address implementation, bytes32 salt) external {
        emit Created(Clones.cloneDeterministic(implementation, salt));
    }

    function predictClone(address implementation, bytes32 salt) external view returns (address) {
        return Clones.predictDeterministicAddress(implementation, salt);
    }

    /// The return data that a reverted CREATE leaves.
    function returnDataOfFailedCreate() external returns (bytes memory data) {
        bytes memory code = abi.encodePacked(type(Child).creationCode, uint256(0));
        assembly {
            pop(create(0, add(code, 0x20), mload(code)))
            data := mload(0x40)
            mstore(data, returndatasize())
            returndatacopy(add(data, 0x20), 0, returndatasize())
            mstore(0x40, add(add(data, 0x20), returndatasize()))
        }
    }

    function codeSize(address account) external view returns (uint256) {
        return account.code.length;
    }

    /// A call that asks for more gas than there is: how much the callee gets of 64 parts.
    function gasPassedOn() external view returns (uint256 parts) {
        uint256 before = gasleft();
        uint256 got = this.gasHere{gas: before * 2}();
        return (got * 64 + before - 1) / before;
    }

    function gasHere() external view returns (uint256) {
        return gasleft();
    }
}
