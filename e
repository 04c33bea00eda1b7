timeout: failed to run command ‘../v-new/bin/evenhand’: No such file or directory
