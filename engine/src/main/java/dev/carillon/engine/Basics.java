package dev.carillon.engine;

/**
 * The environment, settings, timers and record changes of a node, which most of its parts share.
 *
 * @param records changes of the store's records, in order for each key
 */
record Basics(NodeEnvironment env, NodeOptions options, Timers timers, RecordChanges records) {}
