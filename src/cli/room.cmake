target_compile_definitions(strom_cli PRIVATE STROM_VERSION="${PROJECT_VERSION}")
