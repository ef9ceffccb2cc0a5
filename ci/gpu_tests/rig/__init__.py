"""The test rig: a model, engines that give memory back, a process that holds some, sessions under the recorder."""
