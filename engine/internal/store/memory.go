package store

// defaultMemory is the default of engine.Options.Memory.
const defaultMemory = 1 << 30
