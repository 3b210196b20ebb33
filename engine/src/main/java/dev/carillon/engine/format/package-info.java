/**
 * Serialization: how numbers, texts and operations become the bytes of a journal, and back.
 *
 * <p><b>State.</b> The room owns none. Every type is a value, or a container that belongs to its
 * user ({@code LongMap}, {@code ByteWriter}).
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code Kind} holds the persisted code of each operation. Code 0 is reserved, and no code is
 *       ever used for another operation.
 *   <li>{@code Frame} is readable by every version: length, CRC-32C, kind, version, job number,
 *       body.
 *   <li>A reader never skips an operation. An unknown kind or version is an {@code
 *       UnknownFormatException}; a wrong checksum is a {@code DamagedException}. Either refuses the
 *       whole shard.
 *   <li>{@code Micros} rounds times up, so that no job is early.
 *   <li>{@code WordFilter} is a Bloom filter of 64 bytes. Its "no" is certain. Its size and its
 *       hash are persisted and never change.
 * </ul>
 *
 * <p><b>Crash.</b> The store writes whole entries (S4), so a reader never meets half a frame.
 * Damage is reported with the entry in which it stands.
 *
 * <p>A new operation begins here, with its code in {@code Kind}. Everything else that must learn it
 * is listed in {@code docs/internals/new-operation.md}.
 */
@NullMarked
package dev.carillon.engine.format;

import org.jspecify.annotations.NullMarked;
