/**
 * How workers and servers speak: messages and stubs that are generated from {@code
 * carillon/worker/v1/worker.proto}, which is in the jar and documents every field.
 */
package dev.carillon.protocol;
