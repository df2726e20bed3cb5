# find_package(nomp) gives the target nomp::nomp.  nomp_DIR is what `nomp config --cmakedir` prints.
get_filename_component(_nomp_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET nomp::nomp)
  add_library(nomp::nomp SHARED IMPORTED)
  set_target_properties(nomp::nomp PROPERTIES
    IMPORTED_LOCATION "${_nomp_root}/lib/libnomp.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_nomp_root}/include"
    INTERFACE_LINK_LIBRARIES m)
endif()
unset(_nomp_root)
