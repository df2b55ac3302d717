/**
 * Kitbag's agent: a loop over any model, whose run is its log.
 *
 * @module
 */
export {};
